/**
 * Content files as an operator would load them: courses with runs, and pages, videos, documents and problem sets in
 * them. The same seed gives the same files.
 */

import type { ContentFileLine } from '../../query/content/line.ts'
import {
  courseNames,
  departments,
  type Source,
  semesters,
  siteTags,
  slug,
  sources,
  subjects,
  topics,
} from './content-file-words.ts'
import { createRandom, type Random } from './noise.ts'

export type GeneratedFile = ContentFileLine & { id: number; created_on: string }

export interface GeneratorOptions {
  seed: number
  count: number
  /** The limit keeps files of many runs rare. Real ones have hundreds. */
  filesPerRunMax?: number
}

const hundredSources = sources.flatMap(source => Array.from({ length: source.share }, () => source))
const firstId = 17_000_000
/** Time of the oldest file, and how much later the newest one may be. */
const startMs = Date.UTC(2021, 0, 1)
const spanMs = 5 * 365 * 86_400_000
/** Files arrive in batches. All files of a batch have the same time. */
const filesPerTime = 20

/** A course run and all that its files have in common. */
type Run = Pick<
  GeneratedFile,
  | 'run_id'
  | 'run_title'
  | 'run_slug'
  | 'run_readable_id'
  | 'departments'
  | 'semester'
  | 'year'
  | 'topics'
  | 'resource_id'
  | 'resource_readable_id'
  | 'course_number'
  | 'offered_by'
  | 'platform'
> & { kind: Source['kind']; fileCount: number; createdMs: number }

export function* generateContentFiles(options: GeneratorOptions): Generator<GeneratedFile> {
  const { seed, count, filesPerRunMax = Number.POSITIVE_INFINITY } = options
  const random = createRandom(seed)
  let made = 0
  for (let number = 1; made < count; number++) {
    const run = makeRun(random, number)
    const fileCount = Math.min(run.fileCount, filesPerRunMax, count - made)
    for (let index = 0; index < fileCount; index++) yield makeFile(random, run, index, firstId + made++)
  }
}

export function contentFileLines(files: Iterable<GeneratedFile>): string {
  let text = ''
  for (const file of files) text += `${JSON.stringify(file)}\n`
  return text
}

function makeRun(random: Random, number: number): Run {
  const { kind, offered_by, platform } = pick(random, hundredSources)
  const department = pick(random, departments)
  const others = chance(random, 0.2) ? [pick(random, departments)].filter(other => other !== department) : []
  const topic = pick(random, topics)
  const above = topics.filter(({ id }) => id === topic.parent)
  const subject = pick(random, subjects)
  const year = 2000 + whole(random, 26)
  const semester = pick(random, semesters)
  const course = `${department.department_id}.${String(100 + whole(random, 900))}`
  const isSite = kind === 'site'
  const readable = isSite
    ? `${course}+${slug(semester).replaceAll('-', '_')}_${year}`
    : `course-v1:MITx+${course}x+${1 + whole(random, 3)}T${year}`
  return {
    kind,
    offered_by,
    platform,
    run_id: number,
    resource_id: String(10_000 + number),
    run_title: `${pick(random, courseNames)} ${subject}`,
    run_slug: isSite ? `courses/${slug(`${course} ${subject} ${semester} ${year}`)}` : null,
    run_readable_id: readable,
    resource_readable_id: readable,
    departments: [department, ...others],
    semester,
    year,
    topics: [...above, topic],
    course_number: [course],
    // Most runs are small and a few are large.
    fileCount: 20 + Math.floor(380 * random() ** 3),
    createdMs: startMs + Math.floor(random() * spanMs),
  }
}

function makeFile(random: Random, run: Run, index: number, id: number): GeneratedFile {
  const { kind, fileCount: _, createdMs, ...shared } = run
  const time = new Date(createdMs + Math.floor(index / filesPerTime) * 60_000 + whole(random, 2))
  return {
    ...shared,
    id,
    ...(kind === 'site' ? siteFile(random, run, index) : blockFile(random, run, index)),
    require_summaries: chance(random, 0.1),
    checksum: hex(random, 32),
    flashcards: chance(random, 0.02) ? [{ question: 'What is it about?', answer: shared.run_title }] : [],
    // Whole seconds for a batch, and microseconds of its own for a few.
    created_on: time.toISOString().replace(/\.\d+Z$/, `.${chance(random, 0.5) ? '000000' : digits(random, 6)}Z`),
    published: !chance(random, 0.03),
  }
}

type Own = Omit<GeneratedFile, keyof Omit<Run, 'kind' | 'fileCount' | 'createdMs'> | Common>
type Common = 'id' | 'require_summaries' | 'checksum' | 'flashcards' | 'created_on' | 'published'

const plain: Omit<Own, 'key'> = {
  uid: null,
  title: null,
  description: null,
  url: null,
  content_feature_type: [],
  content_type: 'file',
  content_title: '',
  content_author: null,
  content_language: null,
  image_src: null,
  file_type: null,
  file_extension: null,
  edx_module_id: null,
  summary: '',
  content: null,
}

interface SiteKind {
  content_type: Own['content_type']
  name: string
  tag: boolean
  file_type: string
  file_extension: string | null
}

const siteKinds: readonly SiteKind[] = [
  { content_type: 'page', name: 'Week', tag: false, file_type: 'text/html', file_extension: null },
  { content_type: 'pdf', name: 'Lecture Notes', tag: true, file_type: 'application/pdf', file_extension: '.pdf' },
  { content_type: 'pdf', name: 'Problem Set', tag: true, file_type: 'application/pdf', file_extension: '.pdf' },
  { content_type: 'video', name: 'Lecture', tag: true, file_type: 'video/mp4', file_extension: '.mp4' },
  { content_type: 'file', name: 'Transcript', tag: false, file_type: 'application/x-subrip', file_extension: '.srt' },
]

/** A page or a document of a course's site. */
function siteFile(random: Random, run: Run, index: number): Own {
  const { tag, name, ...type } = pick(random, siteKinds)
  const title = `${name} ${index + 1}: ${pick(random, subjects)}`
  const path = `${run.run_slug}/${type.content_type === 'page' ? 'pages' : 'resources'}/${slug(title)}/`
  const tags = tag ? [pick(random, siteTags), ...(chance(random, 0.3) ? [pick(random, siteTags)] : [])] : []
  return {
    ...plain,
    ...type,
    key: path,
    uid: uuid(random),
    title,
    description: chance(random, 0.5) ? sentences(random, 2) : null,
    url: `https://ocw.example.org/${path}`,
    content_feature_type: [...new Set(tags)].sort(),
    content_title: title,
    content_language: 'en',
    image_src: type.content_type === 'video' ? `https://img.example.org/vi/${hex(random, 11)}/default.jpg` : null,
    content: type.content_type === 'page' || tag ? sentences(random, 4) : null,
  }
}

const blocks = ['video', 'html', 'problem'] as const

/** A block of a course on a learning platform, or the subtitles of one. */
function blockFile(random: Random, run: Run, index: number): Own {
  const course = run.run_readable_id.replace('course-v1:', '')
  const name = hex(random, 32)
  if (chance(random, 0.4)) {
    const file_type = 'application/x-subrip'
    const key = `asset-v1:${course}+type@asset+block@${uuid(random)}-en.srt`
    const edx_module_id = `block-v1:${course}+type@subs+block@${name}`
    const title = `Subtitles ${index + 1}`
    return { ...plain, key, title, edx_module_id, file_type, file_extension: '.srt', content: sentences(random, 4) }
  }
  const block = pick(random, blocks)
  const title = `${pick(random, subjects)}, part ${index + 1}`
  return {
    ...plain,
    key: `block-v1:${course}+type@${block}+block@${name}`,
    title,
    content_title: title,
    content_feature_type: block === 'problem' ? ['Problem Sets'] : [],
    content_type: block === 'video' ? 'video' : 'page',
    url: `https://courses.example.org/courses/${course}/jump_to_id/${name}`,
    edx_module_id: `block-v1:${course}+type@${block}+block@${name}`,
    file_type: block === 'video' ? 'video/mp4' : 'text/html',
    file_extension: block === 'video' ? '.mp4' : '.html',
    summary: chance(random, 0.2) ? sentences(random, 1) : '',
    content: block === 'video' ? null : sentences(random, 3),
  }
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[whole(random, items.length)] as Item
}

function whole(random: Random, below: number): number {
  return Math.floor(random() * below)
}

function chance(random: Random, share: number): boolean {
  return random() < share
}

function digits(random: Random, count: number): string {
  return String(whole(random, 10 ** count)).padStart(count, '0')
}

function hex(random: Random, length: number): string {
  let text = ''
  while (text.length < length) text += whole(random, 0x1_0000_0000).toString(16).padStart(8, '0')
  return text.slice(0, length)
}

function uuid(random: Random): string {
  return hex(random, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function sentences(random: Random, count: number): string {
  return Array.from({ length: count }, () => `${pick(random, courseNames)} ${pick(random, subjects)}.`).join(' ')
}
