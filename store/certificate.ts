/** Reads the service's certificate and key, and checks them before the first connection uses them. */

import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { StartError } from './start-error.ts'

export interface Certificate {
  cert: Buffer
  key: Buffer
}

/** Undefined for plain HTTP. */
export function readCertificate({
  TLS_CERT,
  TLS_KEY,
}: {
  readonly TLS_CERT?: string | undefined
  readonly TLS_KEY?: string | undefined
}): Certificate | undefined {
  if (TLS_CERT === undefined || TLS_KEY === undefined) return undefined
  const certificate = { cert: readPem('TLS_CERT', TLS_CERT), key: readPem('TLS_KEY', TLS_KEY) }
  try {
    createSecureContext(certificate)
  } catch (error) {
    throw new StartError(
      `TLS_CERT ${TLS_CERT} and TLS_KEY ${TLS_KEY} are not a matching certificate and key (${reasonOf(error)}): ` +
        'set them to the PEM files of a certificate chain and its private key.',
    )
  }
  return certificate
}

function readPem(setting: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new StartError(`${setting} ${path} cannot be read (${reasonOf(error)}): set it to the path of a PEM file.`)
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
