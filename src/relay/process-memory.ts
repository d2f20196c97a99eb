import { readFile } from 'node:fs/promises';

/** Linux counts memory in pages of 4 KiB. */
const PAGE_BYTES = 4096;

/** Memory of a process and all its descendants, in MB; 0 where the system does not list it. */
export async function processMemoryMB(pid: number): Promise<number> {
  return Math.round(((await pagesOf(pid)) * PAGE_BYTES) / 1e6);
}

async function pagesOf(pid: number): Promise<number> {
  const [own, children] = await Promise.all([read(`/proc/${pid}/statm`), read(`/proc/${pid}/task/${pid}/children`)]);
  const pids = children.split(' ').filter((each) => each !== '');
  const pages = await Promise.all(pids.map((each) => pagesOf(Number(each))));
  return pages.reduce((sum, each) => sum + each, Number(own.split(' ')[1] ?? 0));
}

/** Empty if the process has ended. */
async function read(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}
