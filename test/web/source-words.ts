/** Words in sources: messages that the catalogues translate, and texts outside of them. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync } from 'vite'

const root = resolve(import.meta.dirname, '../..')

interface AnyNode {
  type: string
  start: number
  parent?: AnyNode
  [name: string]: unknown
}

export interface Message {
  readonly file: string
  /** `context|text` where there is a context. */
  readonly key: string
  /** Text of a message with a plural. */
  readonly other: string | undefined
}

interface StrayText {
  readonly file: string
  readonly text: string
}

/** Attributes and properties of components that people read or hear. */
const wordAttributes = new Set(
  'label title text placeholder aria-label alt hint usual all summary heading note noun submit legend caption firstText nextText description question'.split(
    ' ',
  ),
)
const textProperties = new Set(['label', 'text', 'title', 'hint', 'note'])
/** Their contents are the same in each language. */
const codeElements = new Set(['code', 'pre', 'style', 'script'])
const codeAttributes = new Set('class className d path href viewBox key transform points url id src style'.split(' '))
const translators = new Set(['t', 'tc', 'tn', 'tp'])
/** Callees whose strings are selectors, events, addresses or formats. */
const codeCallees =
  /^(?:addressOf|setArguments|useMedia|matchMedia|assert|require|import|addEventListener|removeEventListener|querySelector|querySelectorAll|closest|matches|split|join|startsWith|endsWith|includes|has|get|set|add|test|match|URL|Error|RangeError|TypeError|DateTimeFormat|NumberFormat|URLSearchParams|supportedValuesOf|createElement|getAttribute|setAttribute)$/

export function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name) && !/\.d\.ts$|^dist\/|^\.build-/.test(name))
    .map(name => join(folder, name))
    .sort()
}

export function wordsOf(file: string, text = readFileSync(join(root, file), 'utf8')) {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const messages: Message[] = []
  const stray: StrayText[] = []

  function visit(node: AnyNode, parent?: AnyNode): void {
    if (isCode(node)) return
    if (parent !== undefined) node.parent = parent
    const called = nameOfCallee(node) ?? ''
    if (translators.has(called)) addMessage(node, called)
    else stray.push(...textsIn(node).map(text => ({ file, text })))
    const inside = translators.has(called)
      ? valuesIn(node).filter(value => textOf(value) === undefined)
      : childrenOf(node)
    for (const child of inside) visit(child, node)
  }

  function addMessage(node: AnyNode, called: string): void {
    const [first, second] = valuesIn(node)
      .slice(called === 'tn' ? 1 : 0)
      .map(value => (value.type === 'Literal' ? String(value['value']) : undefined))
    const hasTwo = called === 'tn' || called === 'tc'
    if (first === undefined || (hasTwo && second === undefined)) {
      stray.push({ file, text: `${called}() of a text that is not in the source` })
    } else if (called === 'tc') messages.push({ file, key: `${first}|${second}`, other: undefined })
    else messages.push({ file, key: first, other: called === 'tn' ? second : undefined })
  }

  visit(program as unknown as AnyNode)
  return { messages, stray }
}

const valuesIn = (node: AnyNode) => node['arguments'] as AnyNode[]

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.entries(node)
    .filter(([name]) => name !== 'parent')
    .flatMap(([, value]) => value)
    .filter((value): value is AnyNode => typeof (value as AnyNode | null)?.type === 'string')
}

function nameOfCallee({ type, callee }: AnyNode): string | undefined {
  if (type !== 'CallExpression' && type !== 'NewExpression') return undefined
  const { name, property } = callee as { name?: string; property?: { name?: string } }
  return name ?? property?.name ?? ''
}

function nameOfElement({ openingElement }: AnyNode): string {
  return String((openingElement as { name: { name?: string } }).name.name)
}

function isCode(node: AnyNode): boolean {
  const { type } = node
  if (/^(?:Import|TS(?!As|NonNull|Satisfies))|^ExportAll/.test(type)) return true
  if (type === 'ThrowStatement') return true
  if (type === 'JSXElement') return codeElements.has(nameOfElement(node))
  return type === 'JSXAttribute' && codeAttributes.has(nameOfAttribute(node))
}

function nameOfAttribute({ name }: AnyNode): string {
  return String((name as { name: string }).name)
}

/** The text of a node, with `1` for each value in it. */
function textOf(node: AnyNode): string | undefined {
  if (node.type === 'JSXText') return String(node['value'])
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type !== 'TemplateLiteral') return undefined
  return (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('1')
}

function textsIn(node: AnyNode): string[] {
  if (isHtml(node)) return textsOfHtml(node)
  return isRead(node) ? [textOf(node)?.trim().replace(/\s+/g, ' ') ?? ''] : []
}

/** A template of `api/http/html.ts`. */
function isHtml({ type, tag }: AnyNode): boolean {
  return type === 'TaggedTemplateExpression' && (tag as { name?: string }).name === 'html'
}

/** Texts between tags, and attributes that are read aloud. A template may be attributes alone. */
function textsOfHtml({ quasi }: AnyNode): string[] {
  const markup = (textOf(quasi as AnyNode) ?? '')
    .replace(/^(?: [a-z-]+(?:="[^"]*")?)+$/, '')
    .replace(/<(code|script)\b[^>]*>[^<]*<\/\1>/g, '')
  const aloud = [...markup.matchAll(/ (?:aria-label|placeholder|title)="([^"]*)"/g)].map(([, text = '']) => text)
  return [...markup.split(/<[^>]*>/), ...aloud]
    .map(text => text.trim().replace(/\s+/g, ' '))
    .filter(text => /[A-Za-z]{2,}/.test(text.replace(/&\w+;/g, '')))
}

/** True for a text that people read, by its place and its form. */
function isRead(node: AnyNode): boolean {
  const { parent } = node
  const text = textOf(node)
  if (text === undefined || (parent !== undefined && isHtml(parent))) return false
  if (node.type === 'JSXText') return /[A-Za-z]{2,}/.test(text)
  if (parent === undefined) return false
  if (isShown(node, parent)) return /[A-Za-z]{2,}/.test(text)
  if (parent.type === 'BinaryExpression' || parent.type === 'SwitchCase' || parent.type === 'MemberExpression')
    return false
  if (parent.type === 'Property') {
    if (parent['key'] === node) return false
    if (textProperties.has(String((parent['key'] as AnyNode)['name']))) return /[A-Za-z]{2,}/.test(text)
  }
  const called = nameOfCallee(parent)
  if (called !== undefined && codeCallees.test(called)) return false
  return isProse(text)
}

/** True for a string between tags, or in an attribute of words, maybe as one of several. */
function isShown(node: AnyNode, parent: AnyNode): boolean {
  if (parent.type === 'JSXAttribute') return wordAttributes.has(nameOfAttribute(parent))
  if (parent.parent === undefined) return false
  if (parent.type === 'ConditionalExpression') return parent['test'] !== node && isShown(parent, parent.parent)
  if (parent.type === 'LogicalExpression') return isShown(parent, parent.parent)
  if (parent.type !== 'JSXExpressionContainer') return false
  return parent.parent.type === 'JSXAttribute' ? isShown(parent, parent.parent) : true
}

/** A capitalised word, or words with spaces between them. */
function isProse(text: string): boolean {
  if (/^[./#?&<]|^[a-z-]+:/.test(text) || !/[A-Za-z]{2}/.test(text)) return false
  return (
    /^ ?[A-Z][a-z]+(?:$|[ ,.:?!…])/.test(text) ||
    /(?:^|[ (“])[A-Za-z’'-]{2,}[,.:;?!]? [A-Za-z“(1]/.test(text) ||
    /\d [a-z]{2,}/.test(text)
  )
}
