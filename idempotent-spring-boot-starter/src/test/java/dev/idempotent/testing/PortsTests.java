package dev.idempotent.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Ports}.
 */
class PortsTests {

	@Test
	void areNeverGivenTwice() {
		List<Integer> ports = Stream.generate(Ports::free).limit(50).toList();
		assertThat(ports).doesNotHaveDuplicates().allMatch((port) -> port >= Ports.FIRST && port <= Ports.LAST);
	}

	@Test
	void areNotFreeWhileAServerListens() throws IOException {
		int port = Ports.free();
		try (ServerSocket server = new ServerSocket(port, 0, InetAddress.getLoopbackAddress())) {
			assertThat(Ports.isFree(server.getLocalPort())).isFalse();
		}
		assertThat(Ports.isFree(port)).isTrue();
	}

}
