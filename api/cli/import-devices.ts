/** `--create-devices`: makes the devices that an import names and the registry does not know. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { DeviceName, IssuedPassword } from '../../auth/device.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError } from './command-error.ts'

const IssuedPasswords = z.array(IssuedPassword)
const namesPerRequest = 1_000

export interface DeviceMaker {
  /** Makes those names that can be names, each once; says how many it made. */
  make(names: Iterable<string>): Promise<number>
  readonly made: readonly IssuedPassword[]
}

/** `onMade` gets the passwords as soon as the server has given them, because nobody can ask for them again. */
export function createDeviceMaker(client: AdminClient, onMade: (made: IssuedPassword[]) => void): DeviceMaker {
  const made: IssuedPassword[] = []
  const tried = new Set<string>()

  async function make(names: Iterable<string>): Promise<number> {
    // Composed and decomposed spellings are one name.
    const distinct = new Set([...names].map(name => name.normalize('NFC')))
    const wanted = [...distinct].filter(name => !tried.has(name) && DeviceName.safeParse(name).success)
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

/** Only its owner may read it, and one that exists is not touched: its passwords may be the only copy. */
export function createPasswordsFile(path: string): PasswordsFile {
  const descriptor = openForOwner(path)
  writeSync(descriptor, 'device,password\n')
  return {
    add: passwords => {
      for (const { device, password } of passwords)
        writeSync(descriptor, `"${device.replaceAll('"', '""')}",${password}\n`)
    },
    close: () => closeSync(descriptor),
  }
}

function openForOwner(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CommandError(`${path} exists already; name another file for the passwords`)
    }
    throw new CommandError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}
