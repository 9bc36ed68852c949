/** Reads the free space of a directory's disk. */

import { statfs } from 'node:fs/promises'

export async function readDisk(path: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
