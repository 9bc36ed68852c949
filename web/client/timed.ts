/** Answers whose points have their times, `t`: the pages ask for that by `t=1`, as a local text may come twice. */
export type Timed<Answer> = Answer extends readonly (infer Entry)[]
  ? [Extract<Entry, { t: number }>] extends [never]
    ? Answer
    : Extract<Entry, { t: number }>[]
  : Answer extends object
    ? { [Name in keyof Answer]: Timed<Answer[Name]> }
    : Answer
