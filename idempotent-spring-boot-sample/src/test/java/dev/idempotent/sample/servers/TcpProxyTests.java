package dev.idempotent.sample.servers;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

class TcpProxyTests {

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private ServerSocket server;

	private TcpProxy proxy;

	@BeforeEach
	void open() throws IOException {
		this.server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
		this.proxy = TcpProxy.open(this.server.getLocalPort());
	}

	@AfterEach
	void close() throws IOException {
		for (Socket socket : this.sockets) {
			socket.close();
		}
		this.proxy.close();
		this.server.close();
	}

	@Test
	void forwardsBothWays() throws IOException {
		assertExchange(connect(), accept());
	}

	@Test
	void resetsConnectionsAndRefusesNewOnesWhileItIsCut() throws IOException {
		Socket client = connect();
		Socket accepted = accept();
		assertExchange(client, accepted);
		this.proxy.cut();
		this.proxy.cut();
		assertThat(this.proxy.isOpen()).isFalse();
		assertThatIOException().isThrownBy(() -> client.getInputStream().read()).withMessageContaining("reset");
		assertThat(accepted.getInputStream().read()).isEqualTo(-1);
		assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
	}

	@RepeatedTest(20)
	void acceptsConnectionsOnTheSamePortWhenRestored() throws IOException {
		Socket client = connect();
		assertExchange(client, accept());
		int port = this.proxy.port();
		for (int i = 0; i < 3; i++) {
			this.proxy.cut();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
			this.proxy.restore();
			this.proxy.restore();
			assertThat(this.proxy.isOpen()).isTrue();
			assertThat(this.proxy.port()).isEqualTo(port);
			assertExchange(connect(), accept());
		}
	}

	@Test
	void keepsItsPortWhileItIsCut() throws IOException {
		this.proxy.cut();
		try (ServerSocket other = new ServerSocket()) {
			other.setReuseAddress(false);
			InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), this.proxy.port());
			assertThatExceptionOfType(BindException.class).isThrownBy(() -> other.bind(address));
		}
	}

	@Test
	void endsAConnectionThatTheServerEnds() throws IOException {
		Socket client = connect();
		accept().close();
		assertThat(client.getInputStream().read()).isEqualTo(-1);
	}

	@Test
	void endsAConnectionThatTheClientEnds() throws IOException {
		Socket client = connect();
		Socket accepted = accept();
		client.close();
		assertThat(accepted.getInputStream().read()).isEqualTo(-1);
	}

	@Test
	void endsConnectionsWithoutAServer() throws IOException {
		this.server.close();
		assertThat(connect().getInputStream().read()).isEqualTo(-1);
	}

	private Socket connect() throws IOException {
		Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.proxy.port());
		socket.setSoTimeout(60_000);
		this.sockets.add(socket);
		return socket;
	}

	private Socket accept() throws IOException {
		Socket socket = this.server.accept();
		socket.setSoTimeout(60_000);
		this.sockets.add(socket);
		return socket;
	}

	private static void assertExchange(Socket client, Socket accepted) throws IOException {
		client.getOutputStream().write('?');
		assertThat(accepted.getInputStream().read()).isEqualTo('?');
		accepted.getOutputStream().write('!');
		assertThat(client.getInputStream().read()).isEqualTo('!');
	}

}
