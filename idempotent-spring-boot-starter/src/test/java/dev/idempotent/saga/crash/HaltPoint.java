package dev.idempotent.saga.crash;

import dev.idempotent.testing.RestartedApplication;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Moments at which a JVM halts if it was asked to.
 */
final class HaltPoint {

	private static volatile String wanted = "";

	private HaltPoint() {
	}

	static void pass(String point) {
		if (point.equals(wanted)) {
			RestartedApplication.halt(point);
		}
	}

	/**
	 * Passes a point before the end of the open transaction, and another one after its
	 * commit.
	 */
	static void passInTransaction(String name) {
		pass("before-commit-" + name);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				pass("after-commit-" + name);
			}

		});
	}

	@RestController
	static class Control {

		@PostMapping("/halt")
		void halt(@RequestParam String point) {
			wanted = point;
		}

	}

}
