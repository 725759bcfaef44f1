package dev.idempotent.testing;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.util.Assert;

/**
 * A {@link WebApplication} that runs as long as its test class, registered as a static
 * field: {@code @Order(RunningApplication.AFTER_ITS_SERVERS) @RegisterExtension}.
 */
public final class RunningApplication implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {

	/**
	 * Lets the servers that the application needs be there first; JUnit does not go by
	 * the order of the fields.
	 */
	public static final int AFTER_ITS_SERVERS = Integer.MAX_VALUE;

	private final Supplier<WebApplication> start;

	private final Consumer<WebApplication> reset;

	private @Nullable WebApplication application;

	private RunningApplication(Supplier<WebApplication> start, Consumer<WebApplication> reset) {
		this.start = start;
		this.reset = reset;
	}

	public static RunningApplication of(Supplier<WebApplication> start) {
		return new RunningApplication(start, (application) -> {
		});
	}

	/**
	 * The same, with a bean that is reset before each test.
	 */
	public <T> RunningApplication resetting(Class<T> type, Consumer<T> step) {
		return new RunningApplication(this.start, (application) -> step.accept(application.bean(type)));
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		this.application = this.start.get();
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		this.reset.accept(application());
	}

	@Override
	public void afterAll(ExtensionContext context) {
		if (this.application != null) {
			this.application.close();
		}
	}

	public <T> T bean(Class<T> type) {
		return application().bean(type);
	}

	public HttpRequest.Builder request(String path) {
		return application().request(path);
	}

	public HttpResponse<byte[]> post(String path, String json, String... headers) {
		return application().post(path, json, headers);
	}

	public CompletableFuture<HttpResponse<byte[]>> postAsync(String path, String json, String... headers) {
		return application().postAsync(path, json, headers);
	}

	public HttpResponse<byte[]> send(HttpRequest request) {
		return application().send(request);
	}

	private WebApplication application() {
		Assert.state(this.application != null, "The application is only there while its test class runs");
		return this.application;
	}

}
