/** Vocabulary of the generated courses and files: departments, topics, units, subjects and tags. */

import type { ContentFileLine } from '../../query/content/line.ts'

type Department = ContentFileLine['departments'][number]
type Topic = ContentFileLine['topics'][number]

const site = 'https://learn.example.org'

function slugOf(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

export const slug = slugOf

function school(id: number, name: string): NonNullable<Department['school']> {
  return { id, name, url: `${site}/schools/${slugOf(name)}/` }
}

const engineering = school(1, 'School of Engineering')
const science = school(2, 'School of Science')
const humanities = school(3, 'School of Humanities, Arts, and Social Sciences')
const architecture = school(4, 'School of Architecture and Planning')
const management = school(5, 'School of Management')

function department(department_id: string, name: string, ofSchool: Department['school'] = null): Department {
  return { department_id, name, channel_url: `${site}/c/department/${slugOf(name)}/`, school: ofSchool }
}

export const departments: readonly Department[] = [
  department('2', 'Mechanical Engineering', engineering),
  department('6', 'Electrical Engineering and Computer Science', engineering),
  department('16', 'Aeronautics and Astronautics', engineering),
  department('20', 'Biological Engineering', engineering),
  department('5', 'Chemistry', science),
  department('7', 'Biology', science),
  department('8', 'Physics', science),
  department('18', 'Mathematics', science),
  department('14', 'Economics', humanities),
  department('21H', 'History', humanities),
  department('21L', 'Literature', humanities),
  department('21M', 'Music and Theater Arts', humanities),
  department('4', 'Architecture', architecture),
  department('11', 'Urban Studies and Planning', architecture),
  department('15', 'Management', management),
  department('PE', 'Athletics, Physical Education and Recreation'),
]

const topicTree: Record<string, readonly string[]> = {
  Engineering: ['Mechanical Engineering', 'Electronics', 'Robotics', 'Manufacturing', 'Computer Science'],
  Mathematics: ['Calculus', 'Linear Algebra', 'Probability and Statistics', 'Number Theory'],
  Physics: ['Classical Mechanics', 'Electromagnetism', 'Quantum Mechanics', 'Thermodynamics'],
  'Science & Math': ['Biology', 'Chemistry', 'Earth Science', 'Genetics'],
  Humanities: ['History', 'Literature', 'Music', 'Philosophy', 'Théâtre & Performance'],
  Business: ['Finance', 'Leadership', 'Operations', 'Entrepreneurship'],
  'Social Science': ['Economics', 'Political Science', 'Urban Studies'],
}

export const topics: readonly Topic[] = Object.entries(topicTree).flatMap(([parentName, names], branch) => {
  const parent = 700 + branch * 20
  const topic = (id: number, name: string, above: number | null): Topic => {
    const icon = above === null ? `Ri${name.replaceAll(/[^A-Za-z]/g, '')}Line` : ''
    return { id, name, icon, parent: above, channel_url: `${site}/c/topic/${slugOf(name)}/` }
  }
  return [topic(parent, parentName, null), ...names.map((name, at) => topic(parent + at + 1, name, parent))]
})

export interface Source {
  offered_by: ContentFileLine['offered_by']
  platform: ContentFileLine['platform']
  /** Its files are pages and documents of a site, or blocks of a course. */
  kind: 'site' | 'blocks'
  /** Courses from it, of a hundred. */
  share: number
}

function source(unit: string, name: string, platform: [string, string], kind: Source['kind'], share: number): Source {
  const offered_by = { code: unit, name, channel_url: `${site}/c/unit/${unit}/` }
  return { offered_by, platform: { code: platform[0], name: platform[1] }, kind, share }
}

export const sources: readonly Source[] = [
  source('ocw', 'OpenCourseWare', ['ocw', 'OpenCourseWare'], 'site', 58),
  source('mitx', 'MITx', ['edx', 'edX'], 'blocks', 20),
  source('mitx', 'MITx', ['mitxonline', 'MITx Online'], 'blocks', 12),
  source('xpro', 'xPRO', ['xpro', 'xPRO'], 'blocks', 6),
  source('mitpe', 'Professional Education', ['mitpe', 'Professional Education'], 'site', 3),
  source('see', 'Executive Education', ['see', 'Executive Education'], 'site', 1),
]

export const courseNames: readonly string[] = [
  'Introduction to',
  'Fundamentals of',
  'Advanced Topics in',
  'Seminar in',
  'Principles of',
  'Laboratory in',
]

export const subjects: readonly string[] = [
  'Manufacturing Processes',
  'Signals and Systems',
  'Fourier Series',
  'Eigenvalues & Eigenvectors',
  'The Schrödinger Equation',
  'Gödel’s Theorems',
  'Poincaré Maps',
  'Heat and Mass Transfer',
  'Protein Folding',
  'Organic Reactions',
  'Game Theory',
  'The Industrial Revolution',
  'Counterpoint',
  'Electronic Music',
  'Shakespeare on Film',
  'Zoning and Land Use',
  'Supply Chains',
  'Corporate Finance',
  'Randomized Algorithms',
  'Compilers',
  'Orbital Mechanics',
  'Fluid Dynamics',
  'Genome Sequencing',
  'Labor Markets',
  '日本語 I',
  'Español II',
]

export const siteTags: readonly string[] = [
  'Assignments',
  'Exams',
  'Exam Solutions',
  'Lecture Notes',
  'Lecture Videos',
  'Problem Sets',
  'Problem Set Solutions',
  'Programming Assignments',
  'Projects',
  'Readings',
  'Recitation Notes',
  'Syllabus',
]

export const semesters: readonly string[] = ['Fall', 'Spring', 'Summer', 'January IAP']
