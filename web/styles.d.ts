/** Styles are imported for the build, which makes files of them. */
declare module '*.css'
