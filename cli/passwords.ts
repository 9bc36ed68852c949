/** The passwords file: CSV, mode 0600, never overwritten. */

import { openSync } from 'node:fs'
import type { IssuedPassword } from '../auth/devices/device.ts'
import { CommandError, messageOf } from './command-error.ts'

export const passwordsHeader = 'device,password\n'

export function passwordRow({ device, password }: IssuedPassword): string {
  return `"${device.replaceAll('"', '""')}",${password}\n`
}

export function passwordsCsv(passwords: readonly IssuedPassword[]): string {
  return passwordsHeader + passwords.map(passwordRow).join('')
}

/** One that exists is not touched: its passwords may be the only copy. */
export function openForOwner(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CommandError(`${path} already exists; choose another file for the passwords`)
    }
    throw new CommandError(`${path} cannot be written: ${messageOf(error)}`)
  }
}
