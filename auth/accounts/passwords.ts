/** Hashes passwords with Argon2id as PHC strings, a few at a time in threads, with equal work if there is no hash to compare. */

import type { Options } from '@node-rs/argon2'
import { Piscina } from 'piscina'
import { type Asker, createSemaphore } from '../../store/limits/semaphore.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { tooManyWait } from '../too-busy.ts'
import type { HashTask, VerifyTask } from './hashing-worker.ts'

export interface Passwords {
  hash(password: string, asker: Asker): Promise<string>
  /** Queues the check of a password. */
  attempt<Result>(asker: Asker, check: (verify: Verify) => Promise<Result>): Promise<Result>
  /** True if the hash has other parameters than the present ones. */
  isOutdated(hash: string): boolean
  close(): Promise<void>
}

/** Without a hash, for a missing account or password, equal work is done. */
type Verify = (hash: string | undefined, password: string) => Promise<boolean>

/** Computes hashes; a test counts the calls. */
interface Hashing {
  hash: (password: string, options: Options) => Promise<string>
  verify: (hash: string, password: string) => Promise<boolean>
  close: () => Promise<void>
}

export const passwordLength = { min: 8, max: 128 }

const argon2id = 2
/** OWASP's minimum, 2026: 19 MiB, two passes, one lane. */
const parameters: Options = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const outdatedUnless = '$argon2id$v=19$m=19456,t=2,p=1$'

/** A hash takes 19 MiB and some ten milliseconds of a processor. */
const runningMax = 2
const waitingMax = 32
const waitingOfAccountMax = 16

/**
 * No password has this hash. It is a constant, as hashing threads have the lowest priority: on busy cores, a start waited 2 to 3
 * seconds for a computed one.
 */
const dummy = `${outdatedUnless}${'A'.repeat(22)}$${'A'.repeat(43)}`

export function createPasswords(hashing: Hashing = createHashingThreads(runningMax)): Passwords {
  const { hash, close } = hashing
  const semaphore = createSemaphore({ runningMax, waitingMax, waitingOfAccountMax, refusal: tooManyWait })
  const verify: Verify = async (known, password) => {
    const isRight = await hashing.verify(known ?? dummy, password.normalize('NFKC'))
    return isRight && known !== undefined
  }
  return {
    hash: (password, asker) => semaphore.run(asker, () => hash(password.normalize('NFKC'), parameters)),
    attempt: (asker, check) => semaphore.run(asker, () => check(verify)),
    isOutdated: known => !known.startsWith(outdatedUnless),
    close,
  }
}

interface HashingThreads {
  hash(password: string, options: Options): Promise<string>
  verify(hash: string, password: string): Promise<boolean>
  close(): Promise<void>
}

/** A thread stays for further logins. */
const idleMs = 60_000

function createHashingThreads(threadsMax: number): HashingThreads {
  const threads = new Piscina({
    filename: new URL('./hashing-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    atomics: 'disabled',
    resourceLimits: threadLimits.passwords,
    env: {},
    execArgv: [],
  })
  return {
    hash: (password, options) => threads.run({ password, options } satisfies HashTask, { name: 'hash' }),
    verify: (hash, password) => threads.run({ hash, password } satisfies VerifyTask, { name: 'verify' }),
    close: () => threads.destroy(),
  }
}
