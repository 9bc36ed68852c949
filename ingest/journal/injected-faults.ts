/**
 * Faults on order, for the tests of what an acknowledgement is worth: the process kills itself at a named point, the
 * disk is slow, or it forgets with the process what was not synced. A service without them runs through none of this.
 */

import type { QuestdbConnection } from '../forwarder/questdb.ts'
import type { Disk, DiskFile } from './disk.ts'

/**
 * The dangerous moments. `after-append` to `after-ack` are those of a group, `after-forward` is before QuestDB's 204 and
 * `after-taken` behind it; the others are those of the journal's files.
 */
export const failPoints = [
  'after-append',
  'after-sync',
  'after-ack',
  'after-forward',
  'after-taken',
  'segment-roll',
  'segment-delete',
  'checkpoint-rename',
  'directory-sync',
] as const

/**
 * Those of an erase, which happen when it is asked for: before anything is noted, while its tombstone is written and put in
 * place, behind that, when the readings have gone from QuestDB, and when the report says that it is done.
 */
export const erasePoints = [
  'erase-begun',
  'tombstone-rename',
  'tombstone-sync',
  'erase-skipped',
  'erase-nulled',
  'erase-done',
] as const
export type ErasePoint = (typeof erasePoints)[number]
export type FailPoint = (typeof failPoints)[number] | ErasePoint

/** Plain data, so that it can be handed to the threads. */
export interface InjectedFaults {
  /** SIGKILL at the n-th pass of the point. */
  failPoint?: { name: FailPoint; pass: number } | undefined
  /** Each sync of the journal takes so much longer; the length changes from one to the next. */
  syncDelayMs?: { min: number; max: number } | undefined
  /** What was not synced goes with the process, as it does with the power. */
  losesUnsynced?: boolean | undefined
}

export type Pass = (point: FailPoint) => void

export function createPass({ failPoint }: InjectedFaults): Pass {
  let passes = 0
  return point => {
    if (point === failPoint?.name && ++passes === failPoint.pass) process.kill(process.pid, 'SIGKILL')
  }
}

/** The disk with the faults, or the very same one without any. */
export function withDiskFaults(disk: Disk, faults: InjectedFaults | undefined): Disk {
  if (faults === undefined) return disk
  const pass = createPass(faults)
  return {
    ...disk,
    open(name, create) {
      const file = disk.open(name, create)
      if (create && name.endsWith('.journal')) pass('segment-roll')
      return fileWithFaults(faults.losesUnsynced === true ? forgetful(file) : file, faults, pass)
    },
    replace(name, bytes) {
      const point = replacePoints[name]
      if (point !== undefined) {
        // As far as a kill between the writing of the new file and its renaming gets.
        const file = disk.open(`${name}.new`, true)
        file.write(bytes, 0)
        file.close()
        pass(point)
      }
      disk.replace(name, bytes)
      if (name === 'erased') pass('tombstone-sync')
    },
    remove(name) {
      disk.remove(name)
      if (name.endsWith('.journal')) pass('segment-delete')
    },
    syncDirectory() {
      pass('directory-sync')
      disk.syncDirectory()
    },
  }
}

const replacePoints: Record<string, FailPoint> = { checkpoint: 'checkpoint-rename', erased: 'tombstone-rename' }

function fileWithFaults(file: DiskFile, { syncDelayMs }: InjectedFaults, pass: Pass): DiskFile {
  let syncs = 0
  // Zeros are only room that is made for groups.
  let isGroup = false
  return {
    ...file,
    write(bytes, position) {
      file.write(bytes, position)
      isGroup = bytes[0] !== 0
      if (isGroup) pass('after-append')
    },
    sync() {
      if (syncDelayMs !== undefined) {
        const { min, max } = syncDelayMs
        sleepMs(min + (max - min) * ((syncs++ % 7) / 6))
      }
      file.sync()
      if (isGroup) pass('after-sync')
      isGroup = false
    },
  }
}

/** Holds the writes back until they are synced. The journal's writer, which is all that has this, never reads. */
function forgetful(file: DiskFile): DiskFile {
  let held: { bytes: Uint8Array; position: number }[] = []
  const writeHeld = () => {
    for (const { bytes, position } of held) file.write(bytes, position)
    held = []
  }
  return {
    ...file,
    write: (bytes, position) => void held.push({ bytes: bytes.slice(), position }),
    sync() {
      writeHeld()
      file.sync()
    },
    truncate(length) {
      writeHeld()
      file.truncate(length)
    },
    close() {
      writeHeld()
      file.close()
    },
  }
}

function sleepMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** A connection that kills around its requests: at different moments between the bytes that leave and the answer. */
export function withForwardFaults(connection: QuestdbConnection, pass: Pass | undefined): QuestdbConnection {
  if (pass === undefined) return connection
  let writes = 0
  return {
    ...connection,
    async write(rows) {
      const timer = setTimeout(() => pass('after-forward'), writes++ % 4)
      const answer = await connection.write(rows)
      clearTimeout(timer)
      if (answer.kind === 'stored') pass('after-taken')
      return answer
    },
  }
}
