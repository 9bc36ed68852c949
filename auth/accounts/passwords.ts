/** Passwords of people: Argon2id as PHC strings, a few at a time, and the same work where there is nothing to compare. */

import type { Options } from '@node-rs/argon2'
import { createHashingThreads } from './hashing-threads.ts'
import { type Asker, createWorkQueue } from './work-queue.ts'

export interface Passwords {
  hash(password: string, asker: Asker): Promise<string>
  /** Runs the check of a password when it is its turn. */
  attempt<Result>(asker: Asker, check: (verify: Verify) => Promise<Result>): Promise<Result>
  /** Whether a hash was made with other parameters than those of today. */
  isOutdated(hash: string): boolean
  close(): Promise<void>
}

/** Without a hash, for an account that is not there or has no password, the same work is done in vain. */
type Verify = (hash: string | undefined, password: string) => Promise<boolean>

/** What computes; a test counts the calls. */
export interface Hashing {
  hash: (password: string, options: Options) => Promise<string>
  verify: (hash: string, password: string) => Promise<boolean>
  close: () => Promise<void>
}

/** Of a new password, in characters. */
export const passwordLength = { min: 8, max: 128 }

const argon2id = 2
/** OWASP's minimum, 2026: 19 MiB, two passes, one lane. */
const parameters: Options = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const outdatedUnless = '$argon2id$v=19$m=19456,t=2,p=1$'

const runningMax = 2
const waitingMax = 32
const waitingOfAccountMax = 16

export async function createPasswords(hashing: Hashing = createHashingThreads(runningMax)): Promise<Passwords> {
  const { hash, close } = hashing
  const queue = createWorkQueue({ runningMax, waitingMax, waitingOfAccountMax })
  const dummy = await hash('nobody has this password', parameters)
  const verify: Verify = async (known, password) => {
    const isRight = await hashing.verify(known ?? dummy, password.normalize('NFKC'))
    return isRight && known !== undefined
  }
  return {
    hash: (password, asker) => queue.run(asker, () => hash(password.normalize('NFKC'), parameters)),
    attempt: (asker, check) => queue.run(asker, () => check(verify)),
    isOutdated: known => !known.startsWith(outdatedUnless),
    close,
  }
}
