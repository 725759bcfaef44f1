package dev.idempotent.sample.owner;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;

import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.sample.checkout.Crashes;
import dev.idempotent.sample.checkout.Moment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * The role of an owner: it reports to the JVM that has started it, crashes as requested,
 * and ends with that JVM.
 */
@Component
@Profile(OwnerRole.PROFILE)
class OwnerRole implements Crashes, SagaObserver {

	static final String PROFILE = "saga-owner";

	private static final Logger logger = LoggerFactory.getLogger(OwnerRole.class);

	private static final Duration PAUSE = Duration.ofSeconds(10);

	private static final int KILLED = 137;

	private final Environment environment;

	private volatile @Nullable Moment awaited;

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
	public void reached(Moment moment, @Nullable Moment chosen) {
		this.awaited = chosen;
		if (moment == chosen) {
			new OwnerLine(OwnerLine.Word.HALTS, moment.toString()).print();
			Runtime.getRuntime().halt(KILLED);
		}
		if (chosen == Moment.PAUSE && moment == Moment.BEFORE_CALL) {
			pause();
		}
	}

	@Override
	public void ended(String saga, SagaStatus status, Duration took) {
		if (status == SagaStatus.COMPLETED) {
			reached(Moment.AFTER_COMPLETE, this.awaited);
		}
		new OwnerLine(OwnerLine.Word.ENDED, status.toString()).print();
	}

	@Override
	public void fenced(String saga) {
		new OwnerLine(OwnerLine.Word.FENCED, saga).print();
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
