/** Who connects: a device by its name and password, or an API key with the scope `ingest` in either of the two fields. */

import type { Devices } from '../../auth/devices/devices.ts'
import { mayHoldKey } from '../../auth/keys/key-text.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Writer, Writers } from '../../auth/writers.ts'

export interface Credential {
  /** The same for the same credential. */
  id: string
  /** Who may write by it, as of now; undefined once it is revoked. */
  writer(): Writer | undefined
  /** For one whose `writer` is that of the last look-up. Rejects while it cannot be looked up. */
  refresh?(): Promise<void>
}

export interface CredentialsOptions {
  devices: Pick<Devices, 'credentialCheck'>
  writers: Pick<Writers, 'ofDevice' | 'ofPrincipal'>
  keys: Pick<Keys, 'find'>
}

/** Rejects while an API key cannot be looked up. */
export type FindCredential = (username: string, password: string) => Promise<Credential | undefined>

export function createCredentials({ devices, writers, keys }: CredentialsOptions): FindCredential {
  function ofDevice(name: string, password: string): Credential | undefined {
    const writer = writers.ofDevice(name, password)
    if (writer?.device === undefined) return undefined
    const isCurrent = devices.credentialCheck(writer.device, password)
    return { id: writer.id, writer: () => (isCurrent() ? writer : undefined) }
  }

  async function ofKey(text: string): Promise<Credential | undefined> {
    const find = async () => {
      const found = writers.ofPrincipal(await keys.find(text))
      return typeof found === 'string' ? undefined : found
    }
    let writer = await find()
    if (writer === undefined) return undefined
    return {
      id: writer.id,
      writer: () => writer,
      async refresh() {
        writer = await find()
      },
    }
  }

  return async (username, password) => {
    const key = [password, username].find(mayHoldKey)
    return key === undefined ? ofDevice(username, password) : await ofKey(key)
  }
}
