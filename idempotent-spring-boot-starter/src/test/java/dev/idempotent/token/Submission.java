package dev.idempotent.token;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.testing.WebApplication;

/**
 * A form that a browser sends, as often as it is told to.
 *
 * @param application the server
 * @param path where it is sent to
 * @param form the fields
 * @param headers names and values in turn
 */
record Submission(WebApplication application, String path, String form, List<String> headers) {

	static Submission of(WebApplication application, String token) {
		return new Submission(application, "/orders", "item=book&_idempotency=" + token, List.of());
	}

	Submission to(String other) {
		return new Submission(this.application, other, this.form, this.headers);
	}

	Submission with(String fields) {
		return new Submission(this.application, this.path, fields, this.headers);
	}

	Submission by(String user) {
		return header("X-User", user);
	}

	Submission header(String name, String value) {
		List<String> all = new ArrayList<>(this.headers);
		all.addAll(List.of(name, value));
		return new Submission(this.application, this.path, this.form, all);
	}

	HttpResponse<byte[]> send() {
		HttpRequest.Builder request = this.application.request(this.path)
			.header("Content-Type", "application/x-www-form-urlencoded")
			.POST(BodyPublishers.ofString(this.form));
		return this.application.send(this.headers.isEmpty() ? request.build()
				: request.headers(this.headers.toArray(String[]::new)).build());
	}

}
