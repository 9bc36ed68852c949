/**
 * The state file of an import: the sent position of each file, where the same command continues after a kill. It is rewritten
 * after each acknowledged batch. Batches after the last write are sent again, and stored once.
 */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { CommandError, messageOf, withFile } from './command-error.ts'

const FileState = z.object({
  /** The size of the file when it was read. A file of another size is read from its beginning. */
  size: z.number(),
  modifiedMs: z.number(),
  /** The number of sent batches of the file. */
  batchesSent: z.int(),
  accepted: z.int(),
  replaced: z.int().default(0),
  rejected: z.int(),
})
type Sent = Pick<z.infer<typeof FileState>, 'batchesSent' | 'accepted' | 'replaced' | 'rejected'>

const nothing: Sent = { batchesSent: 0, accepted: 0, replaced: 0, rejected: 0 }

const State = z.object({
  /** Other options on which the lines depend. */
  options: z.string(),
  files: z.record(z.string(), FileState),
})

export interface ImportState {
  /** True if there is a state of this command. */
  readonly isContinued: boolean
  /** The position up to which the file was sent. */
  of(file: string): Sent
  /** The state is on disk when this returns. */
  save(file: string, sent: Sent): void
  /** The caller calls this when all is done. */
  remove(): void
}

/** Nothing is kept without a path. Throws a CommandError. */
export function openImportState(path: string | undefined, options: string): ImportState {
  if (path === undefined)
    return { isContinued: false, of: () => nothing, save: () => undefined, remove: () => undefined }
  const read = readState(path)
  const files = read?.options === options ? read.files : {}
  const found = new Map<string, { size: number; modifiedMs: number }>()

  /** A missing file is reported when it is read. */
  function identityOf(file: string): { size: number; modifiedMs: number } {
    const stats = statSync(file, { throwIfNoEntry: false })
    return { size: stats?.size ?? 0, modifiedMs: stats?.mtimeMs ?? 0 }
  }

  return {
    isContinued: read?.options === options,
    of(file) {
      const identity = identityOf(file)
      found.set(file, identity)
      const state = files[resolve(file)]
      if (state?.size !== identity.size || state.modifiedMs !== identity.modifiedMs) return nothing
      const { batchesSent, accepted, replaced, rejected } = state
      return { batchesSent, accepted, replaced, rejected }
    },
    save(file, sent) {
      files[resolve(file)] = { ...(found.get(file) ?? identityOf(file)), ...sent }
      writeState(path, JSON.stringify({ options, files }))
    },
    remove: () => rmSync(path, { force: true }),
  }
}

function readState(path: string): z.infer<typeof State> | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new CommandError(`the state file cannot be read: ${messageOf(error)}`)
  }
  try {
    return State.parse(JSON.parse(text))
  } catch {
    throw new CommandError(`${path} is not a state file of an import; name another one`)
  }
}

/** Complete or as it was, also after a power cut. */
function writeState(path: string, text: string): void {
  const unfinished = `${path}.part`
  withFile('the state file', 'written', () => {
    const descriptor = openSync(unfinished, 'w')
    writeSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(unfinished, path)
  })
}
