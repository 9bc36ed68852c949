/** Texts on which a backtracking matcher works longest: each repetition of a pattern at length, then what ends no match. */

import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Repetitions with a smaller bound cannot grow. */
const boundedMax = 64
/** Beside the characters of the pattern itself. */
const usualCharacters = ['a', 'A', '0', ' ', '\n', '"', '/', '\u00e9']
const endings = ['', '\u0001', '\n!', 'a']

/** Each makes a text of about the length. */
export function worstTexts(regexp: RegExp): ((length: number) => string)[] {
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
    // A search without an anchor starts again at each character.
    for (let end = 1; end <= Math.min(whole.length, 40); end++) add('', whole.slice(0, end))
  }
  for (const { before, element } of repetitions(pattern.alternatives, '', alphabet)) {
    add(before, textOf(element, alphabet))
    for (const character of alphabet) if (matches(element, character)) add(before, character)
  }
  return texts
}

interface Repetition {
  /** A text that leads to it. */
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

/** A short text that the part of a pattern matches. */
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
