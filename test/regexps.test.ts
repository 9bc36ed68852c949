/** No regular expression of ours backtracks: what comes from outside costs at most in proportion to its length. */

import { analyse } from 'scslre'
import { test } from 'tap'
import { growthMax, growthOf } from './support/growth.ts'
import { regexpsIn, type SourceRegexp, sourceFiles } from './support/source-regexps.ts'
import { worstTexts } from './support/worst-texts.ts'

const files = sourceFiles()
const regexps = files.flatMap(({ file, text }) => regexpsIn(file, text))

/** What a static analysis finds: repetitions that can take the same text, and searches that start again and again. */
function canBacktrack(regexp: RegExp): boolean {
  return analyse({ source: regexp.source, flags: regexp.flags }).reports.length > 0
}

/** A search that backtracks takes some hundred milliseconds here, another one some microseconds. */
const scale = { lengthMax: 8_000, negligibleMs: 10 }

function grows(regexp: RegExp): boolean {
  const search = (text: string) => {
    regexp.lastIndex = 0
    text.replace(regexp, '')
  }
  return worstTexts(regexp).some(inputOf => growthOf(scale, inputOf, search) > growthMax)
}

function offending(isBad: (regexp: RegExp) => boolean): string[] {
  return regexps.filter(({ regexp }) => isBad(regexp)).map(({ place, regexp }: SourceRegexp) => `${place} ${regexp}`)
}

test('both ways to look at a pattern find those that backtrack', async t => {
  const bad = [/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i, /\/+$/]
  for (const regexp of bad) {
    t.ok(canBacktrack(regexp), String(regexp))
    t.ok(grows(regexp), String(regexp))
  }
  t.ok(grows(/^a(b|c)*(bc)*$/), 'which the analysis of the form does not see')
  const good = [/^\d+(?:\.\d*)?$/, /^\/+/, /[&<>]/g, /^(?:[a-z]+|\[[0-9:]+\])$/]
  for (const regexp of good) {
    t.notOk(canBacktrack(regexp), String(regexp))
    t.notOk(grows(regexp), String(regexp))
  }
})

test('the literals of a file are found, whatever they stand behind', async t => {
  const text = 'const half = (a: number) => a / 2 / b\nif (/[/]x/u.test(c as string)) d = e.split(/,/g) // not /this/'
  const found = regexpsIn('f.ts', text).map(({ place, regexp }) => `${place} ${regexp}`)
  t.strictSame(found, ['f.ts:2 /[/]x/u', 'f.ts:2 /,/g'])
  t.ok(regexps.length > 50)
})

test('no pattern can backtrack by its form', async t => {
  t.strictSame(offending(canBacktrack), [])
})

test('no pattern takes more than in proportion to the longest text', async t => {
  t.strictSame(offending(grows), [])
})

test('patterns are made at run time only where their text cannot be a pattern', async t => {
  const makers = files.filter(({ text }) => text.includes('RegExp(')).map(({ file }) => file)
  t.strictSame(makers, [
    'auth/text-search.ts', // escaped, and at most 256 characters
  ])
})
