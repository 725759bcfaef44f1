package dev.idempotent.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.util.Assert;

/**
 * A network between an application and a server that fails as networks do. Registered as
 * a static field:
 * {@code @RegisterExtension static final StallingProxy proxy = StallingProxy.before(redis);}.
 */
public final class StallingProxy implements BeforeAllCallback, AfterAllCallback, RedisTopology {

	private final AtomicInteger accepted = new AtomicInteger();

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean dropsNextReply = new AtomicBoolean();

	private volatile Supplier<InetSocketAddress> target;

	private volatile @Nullable String answer;

	private @Nullable ServerSocket listener;

	private boolean held;

	private StallingProxy(Supplier<InetSocketAddress> target) {
		this.target = target;
	}

	public static StallingProxy before(RealRedis redis) {
		return new StallingProxy(() -> new InetSocketAddress(redis.host(), redis.port()));
	}

	public static StallingProxy before(RealPostgres postgres) {
		return new StallingProxy(() -> new InetSocketAddress(postgres.host(), postgres.port()));
	}

	/**
	 * A proxy before any server.
	 */
	public static StallingProxy before(Supplier<InetSocketAddress> server) {
		return new StallingProxy(server);
	}

	@Override
	public void beforeAll(ExtensionContext context) throws IOException {
		this.listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
		start(() -> accept(listener()));
	}

	@Override
	public void afterAll(ExtensionContext context) throws IOException {
		listener().close();
		reset();
		resume();
	}

	@Override
	public List<String> properties() {
		return List.of("spring.data.redis.host=" + host(), "spring.data.redis.port=" + port());
	}

	public String host() {
		return listener().getInetAddress().getHostAddress();
	}

	public int port() {
		return listener().getLocalPort();
	}

	/**
	 * Keeps what either side sends, until {@link #resume()}. New connections are still
	 * accepted, as by a network that loses packets.
	 */
	public synchronized void hold() {
		this.held = true;
	}

	/**
	 * Lets everything through again, first what was kept.
	 */
	public synchronized void resume() {
		this.held = false;
		this.answer = null;
		notifyAll();
	}

	/**
	 * Never lets anything through again on the connections that there are: their other
	 * end is gone, and nobody says so.
	 */
	public void forgetConnections() {
		this.links.forEach(Link::forget);
	}

	/**
	 * Resets every connection.
	 */
	public void reset() {
		this.links.forEach(Link::reset);
	}

	/**
	 * Lets the next request through, loses its reply and resets its connection.
	 */
	public void dropNextReply() {
		this.dropsNextReply.set(true);
	}

	/**
	 * Tells whether the reply to be dropped came and is lost.
	 */
	public boolean hasDropped() {
		return !this.dropsNextReply.get();
	}

	/**
	 * Leads new connections to another server; those that there are stay where they are.
	 */
	public void leadTo(RealRedis redis) {
		this.target = () -> new InetSocketAddress(redis.host(), redis.port());
	}

	/**
	 * How many connections have been made.
	 */
	public int accepted() {
		return this.accepted.get();
	}

	/**
	 * Answers each request itself, until {@link #resume()}.
	 * @param reply a line of the Redis protocol
	 */
	public void answer(String reply) {
		this.answer = reply + "\r\n";
	}

	InetSocketAddress target() {
		return this.target.get();
	}

	void remove(Link link) {
		this.links.remove(link);
	}

	/**
	 * The line to answer a request with instead of the server, or {@code null}.
	 */
	@Nullable String ownAnswer() {
		return this.answer;
	}

	/**
	 * Tells whether this is the reply to be dropped. The one after it is not.
	 */
	boolean dropsThisReply() {
		return this.dropsNextReply.compareAndSet(true, false);
	}

	synchronized void awaitResume() throws InterruptedException {
		while (this.held) {
			wait();
		}
	}

	static void start(Forwarding forwarding) {
		Thread thread = new Thread(() -> {
			try {
				forwarding.run();
			}
			catch (IOException | InterruptedException ex) {
				// One of the sockets was closed: that is how forwarding ends.
			}
		}, "stalling-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	private ServerSocket listener() {
		Assert.state(this.listener != null, "The proxy is only there while its test class runs");
		return this.listener;
	}

	private void accept(ServerSocket from) throws IOException {
		while (!from.isClosed()) {
			Link link = new Link(this, from.accept());
			this.accepted.incrementAndGet();
			this.links.add(link);
			start(link::forwardRequests);
		}
	}

	interface Forwarding {

		void run() throws IOException, InterruptedException;

	}

	/**
	 * A connection of the application through a {@link StallingProxy}, and the one to the
	 * server that belongs to it.
	 */
	static final class Link {

		private final StallingProxy network;

		private final Socket client;

		private final Socket server = new Socket();

		private volatile boolean forgotten;

		Link(StallingProxy network, Socket client) {
			this.network = network;
			this.client = client;
		}

		void forwardRequests() throws IOException, InterruptedException {
			try {
				this.server.connect(this.network.target());
				StallingProxy.start(this::forwardReplies);
				forward(this.client.getInputStream(), this::request);
			}
			finally {
				reset();
			}
		}

		/**
		 * Lets nothing through again and does not say so.
		 */
		void forget() {
			this.forgotten = true;
		}

		void reset() {
			this.network.remove(this);
			try (this.client; this.server) {
				// A close with this set is a reset.
				this.client.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// It was closed before.
			}
		}

		private void forwardReplies() throws IOException, InterruptedException {
			try {
				forward(this.server.getInputStream(), this::reply);
			}
			finally {
				reset();
			}
		}

		private void request(byte[] chunk) throws IOException {
			String answer = this.network.ownAnswer();
			if (answer != null) {
				this.client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
			}
			else {
				this.server.getOutputStream().write(chunk);
			}
		}

		private void reply(byte[] chunk) throws IOException {
			if (this.network.dropsThisReply()) {
				reset();
			}
			this.client.getOutputStream().write(chunk);
		}

		private void forward(InputStream from, Step step) throws IOException, InterruptedException {
			byte[] buffer = new byte[8192];
			for (int length = from.read(buffer); length > 0; length = from.read(buffer)) {
				this.network.awaitResume();
				if (!this.forgotten) {
					step.take(Arrays.copyOf(buffer, length));
				}
			}
		}

		private interface Step {

			void take(byte[] chunk) throws IOException, InterruptedException;

		}

	}

}
