package dev.idempotent.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.TestServices.DockerEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DockerEngine}.
 */
class TestServicesTests {

	@TempDir
	Path folder;

	private ServerSocketChannel engine;

	@BeforeEach
	void listen() throws IOException {
		this.engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
		this.engine.bind(UnixDomainSocketAddress.of(this.folder.resolve("docker.sock")));
	}

	@AfterEach
	void close() throws IOException {
		this.engine.close();
	}

	@Test
	void hasAnImageThatTheEngineDescribes() {
		CompletableFuture<String> request = answer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}");
		assertThat(engineAt("docker.sock").hasImage("redis:7.4-alpine")).isTrue();
		assertThat(request.join()).isEqualTo("GET /images/redis:7.4-alpine/json HTTP/1.0");
	}

	@Test
	void hasNoImageThatTheEngineDoesNotKnow() {
		CompletableFuture<String> request = answer("HTTP/1.1 404 Not Found\r\n\r\n{\"message\":\"No such image\"}");
		assertThat(engineAt("docker.sock").hasImage("redis:7.4-alpine")).isFalse();
		assertThat(request.join()).startsWith("GET ");
	}

	@Test
	void givesUpOnASilentEngine() {
		assertThat(engineAt("docker.sock").hasImage("redis:7.4-alpine")).isFalse();
	}

	@Test
	void hasNothingWithoutASocket() {
		assertThat(engineAt("missing.sock").hasImage("redis:7.4-alpine")).isFalse();
	}

	@Test
	void doesNotAskAnEngineBehindAnotherKindOfAddress() {
		assertThat(DockerEngine.at("tcp://127.0.0.1:2375").hasImage("redis:7.4-alpine")).isFalse();
	}

	private DockerEngine engineAt(String socket) {
		return DockerEngine.at("unix://" + this.folder.resolve(socket));
	}

	private CompletableFuture<String> answer(String response) {
		return CompletableFuture.supplyAsync(() -> {
			try (SocketChannel client = this.engine.accept();
					BufferedReader reader = new BufferedReader(
							new InputStreamReader(Channels.newInputStream(client), StandardCharsets.US_ASCII))) {
				String request = reader.readLine();
				client.write(ByteBuffer.wrap(response.getBytes(StandardCharsets.US_ASCII)));
				return request;
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}, (task) -> new Thread(task).start());
	}

}
