/** Finds the server's address and the admin token: from the options, else from the server's settings. */

import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Config } from '../service/settings/config.ts'
import type { ServerAddress } from './admin-client.ts'
import { CommandError, exitUsage } from './command-error.ts'

export interface ServerOptions {
  url?: string
  tokenFile?: string
}

type ServerSettings = Pick<Config, 'HOST' | 'PORT' | 'DATA_DIR' | 'TLS_CERT' | 'PUBLIC_URL'>

export function findServer(options: ServerOptions, readSettings: () => ServerSettings): ServerAddress {
  return {
    url: findUrl(options, readSettings),
    token: readToken(options.tokenFile ?? join(readSettings().DATA_DIR, 'secrets', 'admin-token')),
  }
}

/** Requests without the token reach public endpoints only. */
export function findUrl({ url }: ServerOptions, readSettings: () => ServerSettings): string {
  const found = url === undefined ? urlOf(readSettings()) : originOf(url)
  if (found.startsWith('https:')) trust(readSettings().TLS_CERT)
  return found
}

function urlOf({ HOST, PORT, TLS_CERT, PUBLIC_URL }: ServerSettings): string {
  // A certificate is made for a name, and rarely for the address to listen on.
  if (TLS_CERT !== undefined && PUBLIC_URL !== undefined) return originOf(PUBLIC_URL)
  if (PORT === 0)
    throw new CommandError('PORT is 0, so the server listens on any free port; set its address with --url')
  return `${TLS_CERT === undefined ? 'http' : 'https'}://${hostOf(HOST)}:${PORT}`
}

/** A server that listens on all addresses is reached by the one of this machine. */
function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}

/** The certificate of the server itself is trusted, with any issuer. */
function trust(certificateFile: string | undefined): void {
  if (certificateFile === undefined) return
  const certificate = readText(
    certificateFile,
    'cannot read the certificate in TLS_CERT; run as the user of the server',
  )
  setDefaultCACertificates([...getCACertificates('default'), certificate])
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(
      `${text} is not a valid server address; expected something like http://127.0.0.1:8080`,
      exitUsage,
    )
  }
  return url.origin
}

function readToken(path: string): string {
  const remedy = 'start the server once, run as its user, or use --token-file'
  const token = readText(path, `cannot read the admin token from ${path}; ${remedy}`).trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new CommandError(`${path} does not contain an admin token; use --token-file`)
}

function readText(path: string, complaint: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new CommandError(complaint)
  }
}
