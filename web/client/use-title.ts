/** The title of the tab while a component is shown. */

import { useEffect } from 'preact/hooks'
import { setTitle, setTitleNotice } from './title.ts'

export function useTitle(name: string): void {
  useEffect(() => setTitle(name), [name])
}

/** `3 silent`, before the name of the page; an empty text for none. One component of a page has it. */
export function useTitleNotice(notice: string): void {
  useEffect(() => {
    setTitleNotice(notice)
    return () => setTitleNotice('')
  }, [notice])
}
