/** Assertions in tests of pages that read a page at once, where it may still be changing; `becomes` waits for what it reads. */

import { stripTypeScriptTypes } from 'node:module'
import { type Node, parse } from 'acorn'

/** Reads of a page or of a place on it that do not wait for what is wanted. */
const reads = new Set([
  'allInnerTexts',
  'allTextContents',
  'boundingBox',
  'content',
  'count',
  'evaluate',
  'evaluateAll',
  'getAttribute',
  'innerHTML',
  'innerText',
  'inputValue',
  'isChecked',
  'isDisabled',
  'isEnabled',
  'isVisible',
  'textContent',
  'title',
])
/** What tests call a page. */
const pages = new Set(['page', 'popup', 'shown', 'other'])

/** The lines of a test file in which an argument of an assertion, as `t.equal`, awaits a read of a page. */
export function readsAtOnce(text: string): number[] {
  const script = stripTypeScriptTypes(text, { mode: 'strip' })
  const program = parse(script, { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  const all = nodesIn(program, () => true)
  const helpers = new Set(all.filter(isReadingFunction).map(nameOf))
  const awaited = all
    .filter(isAssertion)
    .flatMap(({ arguments: values }) => values.flatMap(value => nodesIn(value, isNotFunction)))
    .filter(({ type }) => type === 'AwaitExpression')
  return awaited.filter(node => isRead(node, helpers)).map(({ loc }) => loc?.start.line ?? 0)
}

type AnyNode = Node & { [name: string]: unknown }
type Call = AnyNode & { callee: AnyNode; arguments: AnyNode[] }

const isNode = (value: unknown): value is AnyNode => typeof (value as AnyNode | null)?.type === 'string'
const isNotFunction = ({ type }: AnyNode) => !/Function/.test(type)

/** With itself, but not what lies in a node that does not pass. */
function nodesIn(node: Node, passes: (node: AnyNode) => boolean): AnyNode[] {
  const found = [node as AnyNode]
  for (const each of found) {
    if (passes(each)) found.push(...Object.values(each).flat().filter(isNode))
  }
  return found
}

function isAssertion(node: AnyNode): node is Call {
  const { object, property } = ((node as Partial<Call>).callee ?? {}) as { object?: AnyNode; property?: AnyNode }
  return node.type === 'CallExpression' && object?.['name'] === 't' && property?.['name'] !== 'test'
}

const nameOf = ({ id, name }: AnyNode) => String((id as AnyNode | undefined)?.['name'] ?? name)

/** `const spoken = async () => (await place.innerText()).trim()` */
function isReadingFunction({ type, init }: AnyNode): boolean {
  const body =
    type === 'VariableDeclarator' && isNode(init) && !isNotFunction(init) ? (init['body'] as AnyNode) : undefined
  return body !== undefined && nodesIn(body, isNotFunction).some(isReadOfPlace)
}

const isReadOfPlace = ({ type, property }: AnyNode) =>
  type === 'MemberExpression' && reads.has(String((property as AnyNode)['name']))

function isRead(node: AnyNode, helpers: ReadonlySet<string>): boolean {
  return nodesIn(node, isNotFunction).some(
    each =>
      isReadOfPlace(each) || (each.type === 'Identifier' && (pages.has(nameOf(each)) || helpers.has(nameOf(each)))),
  )
}
