package dev.idempotent.testing;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Decides whether a real server runs in a container or from its embedded binary: as the
 * system property {@code test.services} says, else in a container only if that needs no
 * download.
 */
final class TestServices {

	private TestServices() {
	}

	static boolean inContainer(String image) {
		String choice = System.getProperty("test.services", "");
		return switch (choice) {
			case "docker" -> true;
			case "embedded" -> false;
			case "" -> DockerEngine.at(System.getenv("DOCKER_HOST")).hasImage(image);
			default -> throw new IllegalArgumentException(
					"The system property test.services is '%s': set it to docker or embedded, or leave it out"
						.formatted(choice));
		};
	}

	/**
	 * A Docker engine behind a Unix socket, asked directly: Testcontainers' own check
	 * hangs for minutes where an engine runs but no registry answers.
	 */
	static final class DockerEngine {

		private static final String UNIX_SCHEME = "unix://";

		private static final Path DEFAULT_SOCKET = Path.of("/var/run/docker.sock");

		private static final long DEADLINE_MILLIS = 1_000;

		private final @Nullable Path socket;

		private DockerEngine(@Nullable Path socket) {
			this.socket = socket;
		}

		/**
		 * The engine at the address that {@code DOCKER_HOST} holds. One that is not
		 * behind a Unix socket is not asked and counts as having nothing.
		 */
		static DockerEngine at(@Nullable String dockerHost) {
			if (dockerHost == null) {
				return new DockerEngine(DEFAULT_SOCKET);
			}
			return new DockerEngine(
					dockerHost.startsWith(UNIX_SCHEME) ? Path.of(dockerHost.substring(UNIX_SCHEME.length())) : null);
		}

		/**
		 * Tells whether the engine says within a second that it has the image. Never
		 * pulls.
		 */
		boolean hasImage(String image) {
			if (this.socket == null) {
				return false;
			}
			UnixDomainSocketAddress address = UnixDomainSocketAddress.of(this.socket);
			// A thread of its own: the common pool has but one on a small machine.
			// Closing
			// the
			// channel releases it if it still waits for a silent engine.
			try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
				return CompletableFuture
					.supplyAsync(() -> finds(image, channel, address), (task) -> new Thread(task).start())
					.completeOnTimeout(false, DEADLINE_MILLIS, TimeUnit.MILLISECONDS)
					.join();
			}
			catch (IOException ex) {
				return false;
			}
		}

		private static boolean finds(String image, SocketChannel channel, UnixDomainSocketAddress address) {
			String request = "GET /images/%s/json HTTP/1.0\r\n\r\n".formatted(image);
			try {
				channel.connect(address);
				channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
				byte[] status = Channels.newInputStream(channel).readNBytes("HTTP/1.1 200".length());
				return new String(status, StandardCharsets.US_ASCII).endsWith(" 200");
			}
			catch (IOException ex) {
				return false;
			}
		}

	}

}
