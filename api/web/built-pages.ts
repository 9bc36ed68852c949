/** The document of the web pages as the build has left it, for each depth of an address, with its compressed forms. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Coding } from '../http/accept-encoding.ts'
import type { SendableBody } from '../http/send-body.ts'

export interface BuiltPage extends SendableBody {
  readonly coded: ReadonlyMap<Coding, Buffer>
}

/** No address of ours is in more folders. */
const depthMax = 4

/**
 * The pages by the number of folders in its address; undefined where nothing is built. The build writes links as seen
 * from `/`, and those of `/device/porch` begin one folder higher. So they stay relative, and good below any prefix that
 * a proxy adds.
 */
export function readBuiltPages(folder: string): BuiltPage[] | undefined {
  const text = readPage(folder)
  if (text === undefined) return undefined
  return Array.from({ length: depthMax + 1 }, (_, depth) => builtPage(pageAt(text, depth)))
}

export function encodePage({ coded }: BuiltPage, coding: Coding): Buffer | undefined {
  return coded.get(coding)
}

function readPage(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'index.html'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function pageAt(text: string, depth: number): string {
  return depth === 0 ? text : text.replaceAll('="./', `="${'../'.repeat(depth)}`)
}

function builtPage(text: string): BuiltPage {
  const bytes = Buffer.from(text)
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return {
    bytes,
    type: 'text/html; charset=utf-8',
    coded: new Map<Coding, Buffer>([
      ['gzip', gzipSync(bytes)],
      ['br', brotliCompressSync(bytes)],
    ]),
    etags: { identity: `"${hash}"`, gzip: `"${hash}-gzip"`, br: `"${hash}-br"`, zstd: `"${hash}-zstd"` },
  }
}
