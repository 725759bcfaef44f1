package dev.idempotent.testing;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Prints each failure to the output of the build, where Surefire sends what tests print
 * to files and has no line for a class that succeeds. JUnit finds it by
 * {@code META-INF/services}.
 */
public final class FailurePrinter implements TestExecutionListener {

	private final boolean active = Boolean.getBoolean("test.print-failures");

	@Override
	public void executionFinished(TestIdentifier test, TestExecutionResult result) {
		if (this.active && result.getStatus() == Status.FAILED) {
			PrintStream build = new PrintStream(new FileOutputStream(FileDescriptor.out), false,
					StandardCharsets.UTF_8);
			build.println("[ERROR] " + test.getLegacyReportingName() + " of " + test.getUniqueId());
			result.getThrowable().ifPresent((failure) -> failure.printStackTrace(build));
			build.flush();
		}
	}

}
