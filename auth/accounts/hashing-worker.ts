/** Hashes passwords in a thread. */

import { hashSync, type Options, verifySync } from '@node-rs/argon2'
import { lowerThreadPriority } from '../../store/thread-priority.ts'

lowerThreadPriority('low')

export interface HashTask {
  password: string
  options: Options
}

export interface VerifyTask {
  hash: string
  password: string
}

export function hash({ password, options }: HashTask): string {
  return hashSync(password, options)
}

export function verify({ hash: known, password }: VerifyTask): boolean {
  return verifySync(known, password)
}
