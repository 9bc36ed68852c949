/** A few content files of every kind, as lines of an import, and as the listing's objects. */

const mit = { id: 3, name: 'School of Humanities', url: 'https://learn.example/s/shass' }
const music = { department_id: '21M', name: 'Music', channel_url: 'https://learn.example/c/music', school: mit }
const physics = { department_id: '8', name: 'Physics', channel_url: null, school: null }
const engineering = {
  id: 747,
  name: 'Engineering',
  icon: 'RiTools',
  parent: null,
  channel_url: 'https://learn.example/c/engineering',
}
const acoustics = { id: 12, name: 'Acoustics', icon: '', parent: 747, channel_url: null }
const ocw = { code: 'ocw', name: 'MIT OpenCourseWare', channel_url: 'https://learn.example/u/ocw' }
const mitx = { code: 'mitx', name: 'MITx', channel_url: null }
const ocwSite = { code: 'ocw', name: 'MIT OpenCourseWare' }
const edx = { code: 'edx', name: 'edX' }

const musicRun = {
  run_id: 5995,
  run_title: 'Music and Technology',
  run_slug: 'courses/21m-380-music-and-technology-fall-2009',
  departments: [music, physics],
  semester: 'Fall',
  year: 2009,
  topics: [engineering, acoustics],
  resource_id: '4120',
  resource_readable_id: '21M.380+fall_2009',
  course_number: ['21M.380', '8.380'],
  offered_by: ocw,
  platform: ocwSite,
  run_readable_id: 'a0c3b0f2d5e4',
}
const edxRun = {
  run_id: 6001,
  run_title: 'Manufacturing <em>Processes</em>',
  resource_id: '4121',
  offered_by: mitx,
  platform: edx,
}
const otherRun = { ...edxRun, run_id: 6002, run_title: 'Another run of it' }

/** The fields of the interface, in its order. */
const fields = (
  'id run_id run_title run_slug departments semester year topics key uid title description require_summaries url ' +
  'content_feature_type content_type content_title content_author content_language checksum image_src resource_id ' +
  'resource_readable_id course_number file_type file_extension offered_by platform run_readable_id edx_module_id ' +
  'summary flashcards'
).split(' ')
/** The values of fields that a line may leave out, but for those that are null. */
const defaults: Record<string, unknown> = {
  departments: [],
  topics: [],
  require_summaries: false,
  content_feature_type: [],
  content_type: 'file',
  content_title: '',
  resource_readable_id: '',
  course_number: [],
  run_readable_id: '',
  summary: '',
  flashcards: [],
}

export interface SampleLine {
  id: number
  created_on: string
  [field: string]: unknown
}

/** The newest first, as the listing has them. */
export const sampleLines: readonly SampleLine[] = [
  {
    id: 40,
    created_on: '2026-03-01T10:00:00.000002Z',
    key: 'courses/21m/resources/notes-1/',
    ...musicRun,
    uid: '0b2d9a53-8d6e-4a51-a1f1-93d1e2f7c0aa',
    title: 'Notes “1” — Übersicht 音楽 😀\u2028',
    url: 'https://x.example/1',
    description: 'One\ntwo\t"three" \\ four',
    require_summaries: true,
    content_feature_type: ['problem sets', 'Lecture Notes', 'Übung'],
    content_type: 'pdf',
    content_title: 'Notes',
    content_author: 'A. Author',
    content_language: 'en',
    checksum: '0123456789abcdef0123456789ABCDEF',
    image_src: 'https://x.example/1.png',
    file_type: 'application/pdf',
    file_extension: '.pdf',
    edx_module_id: 'block-v1:MITx+TYPE@subs+block@Ä',
    summary: 'Short.',
    flashcards: [{ question: 'Why?', answer: '1 < 2 & 3' }],
    content: 'The full text.',
  },
  { id: 30, created_on: '2026-03-01T10:00:00.000001Z', key: 'a', ...edxRun, content_feature_type: ['lecture notes'] },
  // The higher id comes first of two files with one time.
  { id: 29, created_on: '2026-02-01T00:00:00Z', key: 'b', ...edxRun, edx_module_id: 'block-v1:mitx+type@subs+block@ä' },
  { id: 28, created_on: '2026-02-01T01:00:00+01:00', key: 'a', ...otherRun, content_feature_type: ['Exams'] },
  {
    id: 41,
    created_on: '2026-01-01T00:00:00Z',
    key: 'a',
    ...musicRun,
    title: '<script>alert(1)</script>',
    content_feature_type: ['Exams', 'Lecture Notes'],
    content_title: null,
    edx_module_id: 'a,b',
  },
]

export const unpublishedLine: SampleLine = {
  id: 50,
  created_on: '2026-06-01T00:00:00Z',
  key: 'hidden',
  ...musicRun,
  published: false,
}

export function sampleObject(id: number): object {
  const line: Record<string, unknown> = { ...defaults, ...sampleLines.find(sample => sample.id === id) }
  const tags = line['content_feature_type'] as string[]
  line['content_feature_type'] = tags.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return Object.fromEntries(fields.map(field => [field, line[field] ?? null]))
}
