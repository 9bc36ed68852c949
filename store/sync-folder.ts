/** Makes the names in a folder durable: what was made, renamed or removed there outlives a loss of power. */

import { closeSync, fsyncSync, openSync } from 'node:fs'

export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
