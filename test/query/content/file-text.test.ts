/** Files put together from texts, against the objects that they are. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { indented, listAnswer } from '../../../api/content-files/answer.ts'
import { type FileRow, fileText, moduleIdOf, type OwnFields } from '../../../query/content/file-text.ts'

/** Some texts look like the places where a text is cut. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(',"content_type":', ',"file_type":', '","edx_module_id":"', 'a,', '\\', '"', ',"'),
)
const anyTextOrNull = fc.option(anyText)
const anyOwn: fc.Arbitrary<OwnFields> = fc.record({
  key: anyText,
  uid: anyTextOrNull,
  title: anyTextOrNull,
  description: anyTextOrNull,
  require_summaries: fc.boolean(),
  url: anyTextOrNull,
  content_type: fc.constantFrom('page', 'file', 'video', 'pdf'),
  content_title: anyTextOrNull,
  content_author: anyTextOrNull,
  content_language: anyTextOrNull,
  checksum: anyTextOrNull,
  image_src: anyTextOrNull,
  file_type: anyTextOrNull,
  file_extension: anyTextOrNull,
  edx_module_id: anyTextOrNull,
  summary: anyText,
  flashcards: fc.array(fc.record({ question: anyText, answer: anyText }), { maxLength: 2 }),
})
const run = { id: 7, runText: '"run_id":7', resourceText: '"resource_id":"8"', offeringText: '"offered_by":{}' }

function rowOf(own: OwnFields): FileRow {
  return { id: 5, runId: 7, setId: 1, own: JSON.stringify(own) }
}

/** Returns the fields in the order of the interface. */
function expected(own: OwnFields, types: readonly string[]): object {
  const { key, uid, title, description, require_summaries, url, ...second } = own
  const { file_type, file_extension, edx_module_id, summary, flashcards, ...typed } = second
  const first = { id: 5, run_id: 7, key, uid, title, description, require_summaries, url }
  const last = { file_type, file_extension, offered_by: {}, edx_module_id, summary, flashcards }
  return { ...first, content_feature_type: types, ...typed, resource_id: '8', ...last }
}

test('a file is cut where something else comes between its own fields, whatever its texts say', async () => {
  fc.assert(
    fc.property(anyOwn, fc.array(anyText), (own, types) => {
      const row = rowOf(own)
      assert.equal(fileText(row, run, types), JSON.stringify(expected(own, types)))
      assert.equal(moduleIdOf(row), own.edx_module_id)
    }),
  )
})

test('a part of the list holds each of its files', async () => {
  fc.assert(
    fc.property(fc.array(anyOwn, { maxLength: 5 }), fc.nat(), anyTextOrNull, (owns, count, next) => {
      const links = { next, previous: null }
      const texts = owns.map(own => fileText(rowOf(own), run, []))
      const answer = listAnswer(count, links, texts)
      const whole = { count, ...links, results: owns.map(own => expected(own, [])) }
      assert.equal(answer.json.toString(), JSON.stringify(whole))
      assert.equal(indented(answer, 4), JSON.stringify(whole, null, 4))
    }),
  )
})
