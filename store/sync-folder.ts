/** Makes the names in a folder durable: files created, renamed or removed there stay so after a power failure. */

import { closeSync, fsyncSync, openSync } from 'node:fs'

export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
