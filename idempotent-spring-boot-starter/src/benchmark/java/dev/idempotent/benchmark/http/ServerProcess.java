package dev.idempotent.benchmark.http;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The processor time of a process and its children.
 *
 * @param root the process; empty if it is in a container
 */
public record ServerProcess(Optional<ProcessHandle> root) {

	private static final double NANOS_PER_MICRO = 1000;

	/**
	 * Finds a process of this machine.
	 * @param id its id, perhaps in a container
	 * @param command a part of its command
	 */
	static ServerProcess find(long id, String command) {
		return new ServerProcess(
				ProcessHandle.of(id).filter((process) -> process.info().command().orElse("").contains(command)));
	}

	/**
	 * Sums over the processes that are running.
	 * @return microseconds; not a number if the system does not tell
	 */
	public double micros() {
		return this.root
			.map((process) -> Stream.concat(Stream.of(process), process.descendants())
				.mapToDouble(ServerProcess::micros)
				.sum())
			.orElse(Double.NaN);
	}

	private static double micros(ProcessHandle process) {
		return process.info().totalCpuDuration().map((time) -> time.toNanos() / NANOS_PER_MICRO).orElse(Double.NaN);
	}

}
