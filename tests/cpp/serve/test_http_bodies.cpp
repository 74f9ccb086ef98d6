// Every row of the table of faulty bodies, over a socket: after each the connection goes on.
#include <cmath>
#include <limits>

#include "refused.h"

namespace voxridge_test {

namespace {

class HttpBodies : public RefusalTest {
 protected:
  void expect_body(const std::string& body, int status, const std::string& word, int64_t row = 0, int64_t column = 0) {
    expect_refused(std::vector<Refusal>{{predict(body), status, word, After::keep, row, column}});
  }
  void expect_binary(const std::string& body, int status, const std::string& word, int64_t row = 0,
                     int64_t column = 0) {
    expect_refused(std::vector<Refusal>{{predict_binary(body), status, word, After::keep, row, column}});
  }
  void expect_rows(const std::string& body, const std::vector<double>& rows) {
    Client client(server->port());
    EXPECT_EQ(json_difference(*model, rows, client.ask(predict(body))), "") << body.substr(0, 300);
  }
};

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int k = 0; k < times; ++k) out += text;
  return out;
}

std::string with_value(const std::string& value) {
  return "{\"features\":[[1,2],[3," + value + "]]}";
}

}  // namespace

TEST_F(HttpBodies, NotJson) {
  start();
  for (const std::string body : {"",
                                 " ",
                                 "{\"features\":[[1,2]]",
                                 "{\"features\":[[1,2",
                                 "{\"features\":[[1,2]]}}",
                                 "{\"features\":[[1,2]]}x",
                                 "{\"features\":[[1,2]]}{}",
                                 "{\"features\":[[1,2],]}",
                                 "{\"features\":[[1,2,]]}",
                                 "{\"features\":[[1,2]],}",
                                 "/*a*/{\"features\":[[1,2]]}",
                                 "{\"features\":[[1,2]]}//",
                                 "{'features':[[1,2]]}",
                                 "{features:[[1,2]]}",
                                 "\xef\xbb\xbf{\"features\":[[1,2]]}",
                                 "{\"fe\xff\":[[1,2]]}",
                                 "{\"columns\":[\"\xc0\xaf\",\"b\"]}",
                                 "{\"fe\x01\":1}",
                                 "{\"fe\nb\":1}",
                                 "features=1&b=2",
                                 "nope"}) {
    expect_body(body, 400, "bad_json");
  }
  expect_body(std::string("{\"features\":[[1,2]]}\0", 21), 400, "bad_json");
  for (const std::string value : {"NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf", "+1", "01", "1.", ".5", "0x1",
                                  "1e", "--1", "1_0", "1f", "True", "None", "''"}) {
    expect_body(with_value(value), 400, "bad_json");
  }
}

TEST_F(HttpBodies, OfAnotherForm) {
  start();
  for (const std::string value : {"1e999", "-1e999", "1.7976931348623159e308", "1e99999999999999999999"})
    expect_body(with_value(value), 422, "number_out_of_range", 2, 2);
  for (const std::string value : {"\"1\"", "true", "false", "null", "[]", "[1]", "{}", "{\"a\":1}"})
    expect_body(with_value(value), 422, "not_a_number", 2, 2);
  expect_body(with_value(repeated("[", 50000)), 422, "not_a_number", 2, 2);
  expect_body(with_value(repeated("[", 50000) + repeated("]", 50000)), 422, "not_a_number", 2, 2);
  expect_body(with_value(repeated("{\"a\":", 50000)), 422, "not_a_number", 2, 2);
  for (const std::string body : {"[]", "[[1,2]]", "null", "true", "5", "\"features\"", "{\"features\":null}",
                                 "{\"features\":\"a\"}", "{\"features\":{\"a\":[1,2]}}", "{\"features\":1}"})
    expect_body(body, 422, "wrong_type");
  expect_body(repeated("[", 50000), 422, "wrong_type");
  expect_body("{\"features\":[1,2]}", 422, "wrong_type", 1);
  expect_body("{\"features\":[[1,2],null]}", 422, "wrong_type", 2);
  expect_body("{\"features\":[[1,2],{\"x1\":1}]}", 422, "wrong_type", 2);
  expect_body("{}", 422, "missing_features");
  expect_body("{\"columns\":[\"x1\",\"x2\"]}", 422, "missing_features");
  for (const std::string key : {"rows", "Features", "feature", "", "f\\u0065atures", "\\u0066eatures", "instances"})
    expect_body("{\"" + key + "\":[[1,2]]}", 422, "unknown_key");
  expect_body("{\"features\":[[1,2]],\"colum\\u006es\":[\"x1\",\"x2\"]}", 422, "unknown_key");
  expect_body("{\"features\":[[1,2]],\"features\":[[1,2]]}", 422, "duplicate_key");
  expect_body("{\"columns\":[\"x1\",\"x2\"],\"columns\":[\"x1\",\"x2\"]}", 422, "duplicate_key");
}

TEST_F(HttpBodies, OfAnotherSize) {
  start();
  expect_body("{\"features\":[]}", 422, "empty");
  expect_body("{\"features\":[[]]}", 422, "wrong_row_length", 1);
  expect_body("{\"features\":[[1]]}", 422, "wrong_row_length", 1);
  expect_body("{\"features\":[[1,2,3]]}", 422, "wrong_row_length", 1);
  expect_body("{\"features\":[[1,2],[3],[4,5]]}", 422, "wrong_row_length", 2);
  expect_body("{\"features\":[[1,2],[3,4],[]]}", 422, "wrong_row_length", 3);
  expect_body("{\"features\":[[1,2],[3,4,5]]}", 422, "wrong_row_length", 2);
  const std::string row = "[1,2]";
  const auto rows = [&](int n) { return "{\"features\":[" + row + repeated("," + row, n - 1) + "]}"; };
  expect_body(rows(513), 413, "too_many_rows");
  expect_body(rows(5000), 413, "too_many_rows");
  std::vector<double> values;
  for (int k = 0; k < 512; ++k) values.insert(values.end(), {1, 2});
  expect_rows(rows(512), values);
}

TEST_F(HttpBodies, Columns) {
  start();
  const std::string features = "{\"features\":[[1,2]],\"columns\":";
  expect_rows(features + "[\"x1\",\"x2\"]}", {1, 2});
  expect_rows(features + "[\"x\\u0031\",\"\\u00782\"]}", {1, 2});
  expect_rows("{\"columns\":[\"x1\",\"x2\"],\"features\":[[1,2]]}", {1, 2});
  expect_body(features + "[\"x2\",\"x1\"]}", 422, "column_mismatch", 0, 1);
  expect_body(features + "[\"x1\",\"X2\"]}", 422, "column_mismatch", 0, 2);
  expect_body(features + "[\"x1\"]}", 422, "column_mismatch", 0, 2);
  expect_body(features + "[]}", 422, "column_mismatch", 0, 1);
  expect_body(features + "[\"x1\",\"x2\",\"x3\"]}", 422, "column_mismatch", 0, 3);
  expect_body(features + "[\"x1\",2]}", 422, "column_mismatch", 0, 2);
  expect_body(features + "null}", 422, "wrong_type");
}

TEST_F(HttpBodies, ModelWithoutNames) {
  ModelSpec plain = spec();
  plain.has_names = false;
  model = make_model(plain);
  start();
  expect_rows("{\"features\":[[1,2]]}", {1, 2});
  expect_body("{\"features\":[[1,2]],\"columns\":[\"x1\",\"x2\"]}", 422, "column_mismatch");
}

TEST_F(HttpBodies, NumbersThatAreTaken) {
  start();
  const double least = std::numeric_limits<double>::denorm_min();
  expect_rows("{\"features\":[[1e-999,-1e-999],[5e-324,-0],[-0.0,4.9e-324],[1E+2,1e-05]]}",
              {0, -0.0, least, -0.0, -0.0, least, 100, 1e-5});
  expect_rows(" {\t\"features\" :\r\n[ [ 1 , 2 ] ] } \n", {1, 2});
  expect_rows("{\"features\":[[8e307,-1e308]]}", {8e307, -1e308});
}

TEST_F(HttpBodies, ScoresThatAreNotFinite) {
  start();
  expect_body("{\"features\":[[1e308,1]]}", 422, "non_finite_score", 1);
  expect_body("{\"features\":[[1,2],[-1e308,1],[1e308,1]]}", 422, "non_finite_score", 2);
  expect_body("{\"features\":[[1,2],[1e308,1],[1]]}", 422, "non_finite_score", 2);
  expect_body("{\"features\":[[1],[1e308,1]]}", 422, "wrong_row_length", 1);
  expect_binary(binary_rows({1, 2, 1e308, 1}), 422, "non_finite_score", 2);
}

TEST_F(HttpBodies, FirstFaultDecides) {
  start();
  expect_body("{\"features\":[[1],[\"a\",2]],\"x\":1}", 422, "wrong_row_length", 1);
  expect_body("{\"features\":[[1,\"a\"],[1]]}", 422, "not_a_number", 1, 2);
  expect_body("{\"x\":1,\"features\":[[1]]}", 422, "unknown_key");
  expect_body("{\"features\":[[1,1e999],[nan,1]]}", 422, "number_out_of_range", 1, 2);
  expect_body("{\"features\":[[1,nan],[1e999,1]]}", 400, "bad_json");
  expect_body("{\"features\":[[1,2],[3,4]],\"columns\":[\"x1\",\"b\"],\"a\":1}", 422, "column_mismatch", 0, 2);
}

TEST_F(HttpBodies, Binary) {
  start();
  const double inf = std::numeric_limits<double>::infinity();
  expect_binary("", 422, "wrong_length");
  for (const size_t bytes : {1, 8, 15, 17, 24, 40}) expect_binary(std::string(bytes, '\0'), 422, "wrong_length");
  expect_binary(binary_rows({1, 2, std::nan(""), 3}), 422, "non_finite_value", 2, 1);
  expect_binary(binary_rows({1, inf, 1, 3}), 422, "non_finite_value", 1, 2);
  expect_binary(binary_rows({-inf, 1, std::nan(""), 3}), 422, "non_finite_value", 1, 1);
  expect_binary(binary_rows(std::vector<double>(2 * 513, 1)), 413, "too_many_rows");
  Client client(server->port());
  const std::vector<double> rows = {0.5, -0.0, 1e-320, 2};
  EXPECT_EQ(binary_difference(*model, rows, client.ask(predict_binary(binary_rows(rows)))), "");
  const std::vector<double> many = random_rows(512, 2, 3);
  EXPECT_EQ(binary_difference(*model, many, client.ask(predict_binary(binary_rows(many)))), "");
}

// What is sent never comes back.
TEST_F(HttpBodies, NothingIsReflected) {
  start();
  for (const std::string& request :
       {predict("{\"zqzqzq\":1}"), predict("{\"features\":[[\"zqzqzq\",2]]}"), predict("{\"features\":[[1,2]]}zqzqzq"),
        get("/zqzqzq"), get("/livez?zqzqzq=1"), get("/livez", "", "ZQZQZQ"), post("/v1/predict", "zqzqzq/a", "{}"),
        get("/livez", "zqzqzq : b\r\n"), get("/livez", "Content-Length: zqzqzq\r\n"),
        predict("{}", "Expect: zqzqzq\r\n"), std::string("GET /livez HTTP/1.1\r\nHost: zqzqzq\r\n\r\n")}) {
    Client client(server->port());
    const Reply reply = client.ask(request);
    EXPECT_GE(reply.status, 400);
    EXPECT_EQ(reply.bytes.find("zqzqzq"), std::string::npos) << reply.bytes;
    EXPECT_EQ(reply.bytes.find("ZQZQZQ"), std::string::npos) << reply.bytes;
  }
  EXPECT_EQ(server->metrics().find("zqzqzq"), std::string::npos);
}

}  // namespace voxridge_test
