/** Lets the callbacks that are due run first: a long computation would keep the event loop from them. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
