// Serves the built playground on this machine only, compressed and with the headers of docs/playground.md.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { policy } from "./policy.ts";

/** The output folder of `vite build`. */
export const dist = fileURLToPath(new URL("dist", import.meta.url));

/** Serves folder on 127.0.0.1. Port 0 is any free port. */
export async function serve(folder: string, port: number): Promise<Server> {
  const answer = sirv(folder, {
    etag: true,
    brotli: true,
    gzip: true,
    setHeaders: (response, path) => {
      // Names under assets/ change with their content.
      response.setHeader("Cache-Control", path.includes("/assets/") ? "public, max-age=31536000, immutable" : "no-cache");
      response.setHeader("Content-Security-Policy", policy);
      response.setHeader("X-Content-Type-Options", "nosniff");
    },
  });
  const server = createServer(answer);
  await new Promise<void>((done, failed) => server.once("error", failed).listen(port, "127.0.0.1", done));
  return server;
}

export const address = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

if (import.meta.main) {
  const port = Number(process.argv[2]);
  try {
    const server = await serve(dist, port);
    console.log(`The playground is at ${address(server)}/ until you press Ctrl-C.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    console.error(`Port ${port} is taken. Stop what listens there, or choose another: make playground PORT=${port + 1}`);
    process.exitCode = 1;
  }
}
