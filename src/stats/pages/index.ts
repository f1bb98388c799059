export { absentFromCadvisorPage, absentFromResourcePage, absentWhereNotCounted } from './absent.ts';
export { cadvisorPage, type ScrapeOptions } from './cadvisor-page.ts';
export { resourcePage } from './resource-page.ts';
