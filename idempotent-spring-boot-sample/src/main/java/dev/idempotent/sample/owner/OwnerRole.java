package dev.idempotent.sample.owner;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Type;
import java.time.Duration;

import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.sample.checkout.Crashes;
import dev.idempotent.sample.checkout.Moment;
import dev.idempotent.sample.checkout.PlaceCheckout;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.core.MethodParameter;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/**
 * The role of an owner: it reports to the JVM that has started it, crashes as the
 * checkout that it was given requests, and ends with that JVM. A checkout of another
 * owner that it takes over neither crashes it nor is reported.
 */
@ControllerAdvice
@Profile(OwnerRole.PROFILE)
class OwnerRole extends RequestBodyAdviceAdapter implements Crashes, SagaObserver {

	static final String PROFILE = "saga-owner";

	private static final Logger logger = LoggerFactory.getLogger(OwnerRole.class);

	private static final Duration PAUSE = Duration.ofSeconds(10);

	private static final int KILLED = 137;

	/**
	 * The checkout that a thread runs.
	 */
	private static final ThreadLocal<PlaceCheckout> running = new ThreadLocal<>();

	private final Environment environment;

	private volatile @Nullable PlaceCheckout given;

	OwnerRole(Environment environment) {
		this.environment = environment;
	}

	@EventListener(ApplicationReadyEvent.class)
	void report() {
		Thread guard = new Thread(OwnerRole::endWithParent, "parent-guard");
		guard.setDaemon(true);
		guard.start();
		new OwnerLine(OwnerLine.Word.READY, this.environment.getRequiredProperty("local.server.port")).print();
	}

	/**
	 * The standard input ends when the JVM at its other end does, however that ends.
	 */
	private static void endWithParent() {
		try {
			System.in.transferTo(OutputStream.nullOutputStream());
		}
		catch (IOException ex) {
			logger.debug("The standard input has failed", ex);
		}
		Runtime.getRuntime().halt(0);
	}

	@Override
	public boolean supports(MethodParameter parameter, Type type, Class<? extends HttpMessageConverter<?>> converter) {
		return type == PlaceCheckout.class;
	}

	@Override
	public Object afterBodyRead(Object body, HttpInputMessage message, MethodParameter parameter, Type type,
			Class<? extends HttpMessageConverter<?>> converter) {
		this.given = (PlaceCheckout) body;
		return body;
	}

	@Override
	public void reached(Moment moment, PlaceCheckout command) {
		running.set(command);
		if (!command.equals(this.given)) {
			return;
		}
		if (moment == command.crash()) {
			new OwnerLine(OwnerLine.Word.HALTS, moment.toString()).print();
			Runtime.getRuntime().halt(KILLED);
		}
		if (command.crash() == Moment.PAUSE && moment == Moment.BEFORE_CALL) {
			pause();
		}
	}

	@Override
	public void ended(String saga, SagaStatus status, Duration took) {
		PlaceCheckout command = running.get();
		if (command != null && status == SagaStatus.COMPLETED) {
			reached(Moment.AFTER_COMPLETE, command);
		}
		report(OwnerLine.Word.ENDED, status.toString());
	}

	@Override
	public void fenced(String saga) {
		report(OwnerLine.Word.FENCED, saga);
	}

	private void report(OwnerLine.Word word, String detail) {
		PlaceCheckout command = running.get();
		if (command != null && command.equals(this.given)) {
			new OwnerLine(word, detail).print();
		}
	}

	/**
	 * Stops this JVM between two instructions, as a long garbage collection or a
	 * suspended virtual machine does. A shell lets it continue.
	 */
	private static void pause() {
		new OwnerLine(OwnerLine.Word.PAUSES, Moment.PAUSE.toString()).print();
		String script = "kill -STOP %1$d; sleep %2$d; kill -CONT %1$d".formatted(ProcessHandle.current().pid(),
				PAUSE.toSeconds());
		try {
			Process shell = new ProcessBuilder("sh", "-c", script).start();
			shell.waitFor();
		}
		catch (IOException ex) {
			throw new IllegalStateException("This machine has no shell to pause a process with", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		new OwnerLine(OwnerLine.Word.CONTINUES, Moment.PAUSE.toString()).print();
	}

}
