import { opendir } from 'node:fs/promises';

const namesAtATime = 256;

/**
 * The names in a folder, some at a time: whoever may write there must not be able to fill the memory with names, nor to
 * hold up the event loop. The folder is not open any more when the last portion is handed on, so that a walk down a tree
 * of small folders has few open.
 */
export async function* namesInPortions(path: string | Buffer): AsyncGenerator<readonly Buffer[]> {
  const folder = await opendir(path as string, { encoding: 'buffer' as BufferEncoding, bufferSize: namesAtATime });
  let isOpen = true;
  try {
    while (isOpen) {
      const names: Buffer[] = [];
      while (names.length < namesAtATime) {
        // The declarations of Node know nothing of names that are bytes, which `encoding: 'buffer'` gives.
        const name: unknown = (await folder.read())?.name;
        if (!(name instanceof Buffer)) {
          isOpen = false;
          await folder.close();
          break;
        }
        names.push(name);
      }
      if (names.length > 0) yield names;
    }
  } finally {
    if (isOpen) await folder.close();
  }
}
