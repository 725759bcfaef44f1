package dev.idempotent.benchmark.http.load;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Throughput;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.springframework.util.Assert;

/**
 * One order, carried out. Fails with the first response that is not the one expected.
 */
final class LoadRun {

	private static final int DIGITS = 3;

	private final LoadOrder order;

	private final String body;

	private final byte[] receipt;

	private final long sharedKey = RequestBytes.nextKey();

	private final Queue<Client> opened = new ConcurrentLinkedQueue<>();

	private final ThreadLocal<Client> own = ThreadLocal.withInitial(this::open);

	LoadRun(LoadOrder order) {
		this.order = order;
		this.body = Body.order(order.bytes());
		this.receipt = Body.receipt(this.body);
	}

	LoadResult run() {
		try {
			CompletableFuture<Void> shared = begin();
			Histogram latencies = new ConcurrentHistogram(DIGITS);
			Throughput throughput = send(latencies);
			release();
			shared.join();
			return new LoadResult(throughput.count(), throughput.nanos(), micros(latencies.getValueAtPercentile(50)),
					micros(latencies.getValueAtPercentile(99)), micros(latencies.getMaxValue()));
		}
		finally {
			this.opened.forEach(Client::close);
		}
	}

	private Throughput send(Histogram latencies) {
		Load load = new Load(this.order.clients());
		Runnable next = () -> this.own.get().send(this.order.traffic());
		if (this.order.perSecond() > 0) {
			return load.paced(this.order.perSecond(), this.order.time(), (due) -> {
				next.run();
				latencies.recordValue(System.nanoTime() - due);
			});
		}
		return (this.order.count() > 0) ? load.times(this.order.count(), next) : load.during(this.order.time(), next);
	}

	private static long micros(long nanos) {
		return TimeUnit.NANOSECONDS.toMicros(nanos);
	}

	/**
	 * Sends the request that all share their key with, if they do.
	 * @return completes when the handler has ended
	 */
	private CompletableFuture<Void> begin() {
		return switch (this.order.traffic()) {
			case FIRST -> CompletableFuture.completedFuture(null);
			case REPLAY -> {
				open().send(Traffic.FIRST, this.sharedKey);
				yield CompletableFuture.completedFuture(null);
			}
			case PENDING -> hold();
		};
	}

	/**
	 * Sends two requests with the same key: one runs, the other one is refused.
	 * @return completes with the response of the one that runs
	 */
	private CompletableFuture<Void> hold() {
		CompletableFuture<Boolean> one = CompletableFuture.supplyAsync(open()::isRefused);
		CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(open()::isRefused);
		Assert.state(CompletableFuture.anyOf(one, other).join().equals(true), "Nothing holds the key");
		return one.thenAcceptBoth(other,
				(first, second) -> Assert.state(first ^ second, "Both requests for the key were refused"));
	}

	private void release() {
		if (this.order.traffic() == Traffic.PENDING) {
			open().post("/release");
		}
	}

	private Client open() {
		Client client = new Client();
		this.opened.add(client);
		return client;
	}

	/**
	 * A connection and the requests that it sends.
	 */
	private final class Client {

		private final Connection connection = new Connection(LoadRun.this.order.port());

		private final RequestBytes requests = new RequestBytes(LoadRun.this.order.path(), LoadRun.this.body);

		void send(Traffic traffic) {
			send(traffic, (traffic == Traffic.FIRST) ? RequestBytes.nextKey() : LoadRun.this.sharedKey);
		}

		void send(Traffic traffic, long key) {
			ResponseReader response = this.connection.exchange(this.requests.withKey(key));
			Assert.state(response.is(traffic), () -> "Expected " + traffic + " but got " + response);
			Assert.state(traffic == Traffic.PENDING || response.hasBody(LoadRun.this.receipt),
					() -> "Not the expected body: " + response);
		}

		boolean isRefused() {
			return this.connection.exchange(this.requests.withKey(LoadRun.this.sharedKey)).is(Traffic.PENDING);
		}

		void post(String path) {
			this.connection.exchange(new RequestBytes(path, LoadRun.this.body).withKey(RequestBytes.nextKey()));
		}

		void close() {
			this.connection.close();
		}

	}

}
