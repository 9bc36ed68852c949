/** `--create-devices`: adds the devices of an import that are not registered. */

import { closeSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { IssuedPassword } from '../auth/devices/device.ts'
import type { AdminClient } from './admin-client.ts'
import { openForOwner, passwordRow, passwordsHeader } from './passwords.ts'

const IssuedPasswords = z.array(IssuedPassword)
const namesPerRequest = 1_000

export interface DeviceMaker {
  /** Makes those that are new, each once; says how many it made. */
  make(names: Iterable<string>): Promise<number>
  readonly made: readonly IssuedPassword[]
}

/** `onMade` gets passwords at once, because they cannot be requested again. */
export function createDeviceMaker(client: AdminClient, onMade: (made: IssuedPassword[]) => void): DeviceMaker {
  const made: IssuedPassword[] = []
  const tried = new Set<string>()

  async function make(names: Iterable<string>): Promise<number> {
    // Composed and decomposed spellings are one name.
    const distinct = new Set([...names].map(name => name.normalize('NFC')))
    const wanted = [...distinct].filter(name => !tried.has(name))
    for (let from = 0; from < wanted.length; from += namesPerRequest) {
      const slice = wanted.slice(from, from + namesPerRequest)
      const issued = await client.json(
        IssuedPasswords,
        'POST',
        '/devices',
        slice.map(name => ({ name })),
      )
      for (const name of slice) tried.add(name)
      made.push(...issued)
      onMade(issued)
    }
    return wanted.length
  }

  return { make, made }
}

export interface PasswordsFile {
  add(passwords: readonly IssuedPassword[]): void
  close(): void
}

export function createPasswordsFile(path: string): PasswordsFile {
  const descriptor = openForOwner(path)
  writeSync(descriptor, passwordsHeader)
  return {
    add: passwords => {
      writeSync(descriptor, passwords.map(passwordRow).join(''))
    },
    close: () => closeSync(descriptor),
  }
}
