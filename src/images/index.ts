export { ImageManager, type ImageManagerDeps } from './image-manager.ts';
