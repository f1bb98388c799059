/** Lets everybody else who is due have a turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
