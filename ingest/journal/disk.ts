/**
 * The few file operations that the journal needs, as an interface, so that a test can simulate a disk that loses unsynced data.
 * All calls are synchronous: they run in a separate thread, outside libuv's pool, where many password hashes would delay the
 * sync.
 */

import * as fs from 'node:fs'
import { dirname, join } from 'node:path'

export interface Disk {
  /** Names in the directory, unordered. */
  list(): string[]
  /** Opens for reading and writing. Creates the file when `create` is set. */
  open(name: string, create: boolean): DiskFile
  /** Writes a whole small file under a temporary name, syncs it and renames it. */
  replace(name: string, bytes: Uint8Array): void
  remove(name: string): void
  /** Makes the creation, replacement and removal of files durable. */
  syncDirectory(): void
  /** Bytes that may still be written on this file system. */
  freeBytes(): number
}

export interface DiskFile {
  /** Writes all bytes at the position or throws. */
  write(bytes: Uint8Array, position: number): void
  /** Fills `bytes` from the position on and returns the number of bytes before the end of the file. */
  read(bytes: Uint8Array, position: number): number
  /** `fdatasync`: written data is on disk when it returns. */
  sync(): void
  truncate(length: number): void
  size(): number
  close(): void
}

/** `isSynced` is false for data that need not survive a crash of the system: then nothing is synced. */
export function openDisk(directory: string, isSynced = true): Disk {
  const made = fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (made !== undefined && isSynced) syncFolder(dirname(directory))
  const openFile = (descriptor: number) => diskFile(descriptor, isSynced)
  const path = (name: string) => join(directory, name)

  return {
    list: () => fs.readdirSync(directory),
    open: (name, create) => openFile(fs.openSync(path(name), openFlags(create), 0o600)),
    replace(name, bytes) {
      const file = openFile(fs.openSync(path(`${name}.new`), fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600))
      try {
        file.truncate(0)
        file.write(bytes, 0)
        file.sync()
      } finally {
        file.close()
      }
      fs.renameSync(path(`${name}.new`), path(name))
    },
    remove: name => fs.rmSync(path(name), { force: true }),
    syncDirectory() {
      if (isSynced) syncFolder(directory)
    },
    freeBytes() {
      const { bavail, bsize } = fs.statfsSync(directory)
      return bavail * bsize
    },
  }
}

function syncFolder(path: string): void {
  const descriptor = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

function openFlags(create: boolean): number {
  return create ? fs.constants.O_RDWR | fs.constants.O_CREAT : fs.constants.O_RDWR
}

function diskFile(descriptor: number, isSynced: boolean): DiskFile {
  return {
    write(bytes, position) {
      let written = 0
      while (written < bytes.length) {
        written += fs.writeSync(descriptor, bytes, written, bytes.length - written, position + written)
      }
    },
    read(bytes, position) {
      let got = 0
      while (got < bytes.length) {
        const count = fs.readSync(descriptor, bytes, got, bytes.length - got, position + got)
        if (count === 0) break
        got += count
      }
      return got
    },
    sync() {
      if (isSynced) fs.fdatasyncSync(descriptor)
    },
    truncate: length => fs.ftruncateSync(descriptor, length),
    size: () => fs.fstatSync(descriptor).size,
    close: () => fs.closeSync(descriptor),
  }
}
