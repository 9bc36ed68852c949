/** Hashes passwords in threads of the lowest priority, so that logins do not delay acknowledgements. */

import type { Options } from '@node-rs/argon2'
import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import type { HashTask, VerifyTask } from './hashing-worker.ts'

export interface HashingThreads {
  hash(password: string, options: Options): Promise<string>
  verify(hash: string, password: string): Promise<boolean>
  close(): Promise<void>
}

/** A thread stays for further logins. */
const idleMs = 60_000

export function createHashingThreads(threadsMax: number): HashingThreads {
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
