/** Stores archived files in a folder or in an S3 bucket. */

import { createReadStream, openAsBlob } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { AwsV4Signer } from 'aws4fetch'
import { syncFolder } from '../../../store/sync-folder.ts'

export interface ArchiveTarget {
  /** Shown in messages; contains no secrets. */
  readonly name: string
  /** Resolves when the file is complete and durable. */
  put(key: string, path: string, sha256: string): Promise<void>
  /** Undefined for a missing file. */
  get(key: string): Promise<Readable | undefined>
  /** Lists the keys below a folder, whose name ends with a slash. */
  list(folder: string): Promise<string[]>
  /** Succeeds for a missing file, too. */
  remove(key: string): Promise<void>
}

/** The folder must exist: a missing mount must not look like an empty archive. */
export function openFolder(url: URL): ArchiveTarget {
  const base = fileURLToPath(url)
  const pathOf = (key: string) => join(base, key)
  return {
    name: url.href,
    async put(key, path) {
      const [to, folder] = [pathOf(key), dirname(pathOf(key))]
      await makeFolders(base, folder)
      const unfinished = `${to}.part`
      try {
        await copyFile(path, unfinished)
        const file = await open(unfinished, 'r+')
        await file.sync().finally(() => file.close())
        await rename(unfinished, to)
        syncFolder(folder)
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async get(key) {
      const file = await open(pathOf(key)).catch(ignoreMissing)
      return file === undefined ? undefined : createReadStream('', { fd: file })
    },
    async list(folder) {
      await open(base).then(file => file.close())
      const names = (await readdir(pathOf(folder)).catch(ignoreMissing)) ?? []
      return names.map(name => `${folder}${name}`)
    },
    async remove(key) {
      await rm(pathOf(key), { force: true })
      syncFolder(dirname(pathOf(key)))
    },
  }
}

async function makeFolders(base: string, folder: string): Promise<void> {
  if (folder === base || folder === '/') return
  await makeFolders(base, dirname(folder))
  const made = await mkdir(folder).then(
    () => true,
    error => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
  if (made) syncFolder(dirname(folder))
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

interface S3Options {
  /** The host is the bucket, the path the prefix. */
  url: URL
  /** Address of the store, without the bucket. */
  endpoint: string
  region: string
  keyId: string
  secret: string
  /** Aborts all requests. */
  signal: AbortSignal
}

/** Bounds requests to a slow store; fetch itself detects an unreachable one. */
const timeoutMs = 30_000
const transferMs = 3_600_000
const noBodySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const errorBytesMax = 4096
const listBytesMax = 4 * 1024 * 1024

interface S3Request {
  method: 'GET' | 'PUT' | 'DELETE'
  key: string
  query?: string
  sha256?: string
  body?: Blob
  limitMs?: number
}

export function openBucket({ url, endpoint, region, keyId, secret, signal: closing }: S3Options): ArchiveTarget {
  const bucket = url.host
  const prefix = url.pathname.replace(/^\/|\/$/g, '')
  const base = prefix === '' ? '' : `${prefix}/`
  const root = `${endpoint.replace(/\/$/, '')}/${bucket}`

  /** Undefined for a missing key. */
  async function ask({ method, key, query = '', sha256 = noBodySha256, body, limitMs = timeoutMs }: S3Request) {
    const headers = { 'x-amz-content-sha256': sha256 }
    // Stores differ in signing "=" or "%3D", so the path is sent as it is signed.
    const path = key.split('/').map(encodeURIComponent).join('/')
    const given = { method, url: `${root}/${path}${query}`, headers, region, service: 's3' }
    const signed = await new AwsV4Signer({ ...given, accessKeyId: keyId, secretAccessKey: secret }).sign()
    const signal = AbortSignal.any([closing, AbortSignal.timeout(limitMs)])
    const init = { method, headers: signed.headers, signal, redirect: 'error' as const, body: body ?? null }
    const response = await fetch(signed.url, init).catch(error => {
      throw new Error(`${method} ${key}: ${error.cause?.message || error.cause?.code || error.message}`)
    })
    if (response.ok) return response
    const code = between(await textOf(response, errorBytesMax), '<Code>', '</Code>')[0] ?? ''
    if (code === 'NoSuchKey') return undefined
    throw new Error(`${method} ${key}: ${response.status} ${code}`.trimEnd())
  }

  return {
    name: url.href,
    async put(key, path, sha256) {
      const body = await openAsBlob(path)
      const response = await ask({ method: 'PUT', key: `${base}${key}`, sha256, body, limitMs: transferMs })
      await response?.body?.cancel()
    },
    async get(key) {
      const response = await ask({ method: 'GET', key: `${base}${key}`, limitMs: transferMs })
      return response && Readable.fromWeb((response.body ?? new ReadableStream()) as never)
    },
    async list(folder) {
      const query = `?list-type=2&prefix=${encodeURIComponent(base + folder)}`
      const response = await ask({ method: 'GET', key: '', query })
      const text = response === undefined ? '' : await textOf(response, listBytesMax)
      return between(text, '<Key>', '</Key>').map(key => key.slice(base.length))
    },
    async remove(key) {
      const response = await ask({ method: 'DELETE', key: `${base}${key}` })
      await response?.body?.cancel()
    },
  }
}

/** A day has a few dozen files, never a second page of 1,000. Their names have no characters that XML escapes. */
function between(text: string, from: string, to: string): string[] {
  return text
    .split(from)
    .slice(1)
    .map(part => part.slice(0, part.indexOf(to)))
}

async function textOf(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length > bytesMax) break
  }
  return Buffer.concat(chunks).toString()
}
