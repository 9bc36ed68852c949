/** No regular expression of the project backtracks: the cost of outside text is linear. */

import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { analyse } from 'scslre'
import { test } from 'tap'
import { growthMax, growthOf } from './support/growth.ts'
import { regexpsIn, type SourceRegexp, sourceFiles } from './support/source-regexps.ts'

/** Repetitions with a smaller bound cannot grow. */
const boundedMax = 64
/** Added to the characters of the pattern itself. */
const usualCharacters = ['a', 'A', '0', ' ', '\n', '"', '/', '\u00e9']
const endings = ['', '\u0001', '\n!', 'a']

/** Each function returns a text of about `length` characters. */
function worstTexts(regexp: RegExp): ((length: number) => string)[] {
  const { pattern } = new RegExpParser({ ecmaVersion: 2025 }).parseLiteral(String(regexp))
  const alphabet = [...new Set([...usualCharacters, ...regexp.source])]
  const texts: ((length: number) => string)[] = []
  const add = (before: string, repeated: string) => {
    if (repeated === '') return
    for (const ending of endings) {
      texts.push(length => `${before}${repeated.repeat(Math.ceil(length / repeated.length))}${ending}`)
    }
  }

  for (const alternative of pattern.alternatives) {
    const whole = textOf(alternative, alphabet)
    // A search without an anchor restarts at each character.
    for (let end = 1; end <= Math.min(whole.length, 40); end++) add('', whole.slice(0, end))
  }
  for (const { before, element } of repetitions(pattern.alternatives, '', alphabet)) {
    add(before, textOf(element, alphabet))
    for (const character of alphabet) if (matches(element, character)) add(before, character)
  }
  return texts
}

interface Repetition {
  /** A text that reaches the repetition. */
  before: string
  element: AST.Element
}

function repetitions(alternatives: AST.Alternative[], start: string, alphabet: string[]): Repetition[] {
  return alternatives.flatMap(({ elements }) => {
    let before = start
    return elements.flatMap(element => {
      const here = before
      before += textOf(element, alphabet)
      const inner = element.type === 'Quantifier' ? element.element : element
      const deeper = 'alternatives' in inner ? repetitions(inner.alternatives as AST.Alternative[], here, alphabet) : []
      const repeats = element.type === 'Quantifier' && element.max > boundedMax
      return repeats ? [{ before: here, element: element.element }, ...deeper] : deeper
    })
  })
}

function textOf(node: AST.Element | AST.Alternative, alphabet: string[]): string {
  if (node.type === 'Alternative') return node.elements.map(element => textOf(element, alphabet)).join('')
  if (node.type === 'Quantifier') return textOf(node.element, alphabet).repeat(Math.max(1, node.min))
  if (node.type === 'Group' || node.type === 'CapturingGroup') {
    const [first] = node.alternatives
    return first === undefined ? '' : textOf(first, alphabet)
  }
  if (node.type === 'Assertion' || node.type === 'Backreference') return ''
  return alphabet.find(character => matches(node, character)) ?? ''
}

function matches(element: AST.Element, character: string): boolean {
  if (element.type === 'Assertion') return false
  try {
    return new RegExp(`^(?:${element.raw})$`, 'u').test(character)
  } catch {
    return new RegExp(`^(?:${element.raw})$`).test(character)
  }
}

const files = sourceFiles()
const regexps = files.flatMap(({ file, text }) => regexpsIn(file, text))

/** A static analysis: repetitions that can match the same text, and searches that restart repeatedly. */
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

test('both analyses of a pattern find backtracking', async t => {
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

test('the literals of a file are found in any context', async t => {
  const text = 'const half = (a: number) => a / 2 / b\nif (/[/]x/u.test(c as string)) d = e.split(/,/g) // not /this/'
  const found = regexpsIn('f.ts', text).map(({ place, regexp }) => `${place} ${regexp}`)
  t.strictSame(found, ['f.ts:2 /[/]x/u', 'f.ts:2 /,/g'])
  t.ok(regexps.length > 50)
})

test('the form of every pattern excludes backtracking', async t => {
  t.strictSame(offending(canBacktrack), [])
})

test('every pattern takes linear time for the longest text', async t => {
  t.strictSame(offending(grows), [])
})

test('patterns are compiled at run time only from text without special characters', async t => {
  const makers = files.filter(({ text }) => text.includes('RegExp(')).map(({ file }) => file)
  t.strictSame(makers, [
    'auth/list-page.ts', // escaped, and at most 256 characters
    'ingest/decoders/family.ts', // built from declarations, for paths and topics of at most 256 characters
  ])
})
